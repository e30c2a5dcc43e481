/**
 * What is known at one place of a function, reading its code from the beginning: which values are on the stack and in
 * the locals, and the pages of which values are marked already.
 *
 * Values have numbers. A value that is another one plus a constant is known by the number of the other and the
 * distance, so that a mark for one stands for all that is near enough. What a local holds is known from where it is set
 * to the end of that block, and what is marked from there to the end of its block: no branch can come in between
 * without having passed that place, save by a loop. So in a loop that began later, it is known only of a local that is
 * not set anywhere later in the function; at any other time the local is taken to hold something new. A mark stays
 * until the call is over.
 */

/** How many values a function or a block takes and leaves. */
export interface Signature {
  readonly params: number;
  readonly results: number;
}

/** The engine allows a function no more. */
const MAX_LOCALS = 50_000;

/** The number of the value zero: a constant is at a distance from it. */
export const ZERO = 0;

const UNKNOWN = -1;

interface Frame {
  id: number;
  readonly signature: Signature;
  readonly height: number;
  readonly trail: number;
  readonly loop: number;
  unreachable: boolean;
}

/** A mark that was made, and what it took the place of. */
interface Trace {
  readonly value: number;
  readonly before: number | undefined;
}

/** Thrown where the stack is not as these rules have it; the function is then marked without them. */
export class Untracked extends Error {}

export class Facts {
  readonly #lastSets = new Float64Array(MAX_LOCALS);
  /** What each local holds, and where that became known: the frame by depth and number, the loop, the position. */
  readonly #values = new Float64Array(MAX_LOCALS);
  readonly #distances = new Int32Array(MAX_LOCALS);
  readonly #depths = new Int32Array(MAX_LOCALS);
  readonly #frameIds = new Float64Array(MAX_LOCALS);
  readonly #loops = new Float64Array(MAX_LOCALS);
  readonly #places = new Float64Array(MAX_LOCALS);
  readonly #marks = new Map<number, number>();
  #trail: Trace[] = [];
  #frames: Frame[] = [];
  #frame: Frame | undefined;
  #loop = 0;
  #lastNumber = 0;
  /** The stack: each value, its distance from that number, and a local that held it, or -1. */
  readonly #stack: number[] = [];
  readonly #stackDistances: number[] = [];
  readonly #stackLocals: number[] = [];
  #height = 0;

  /** Notes, before a function is read, that it sets a local at this position of the module. */
  noteSet(local: number, at: number): void {
    if (local < MAX_LOCALS) this.#lastSets[local] = at;
  }

  begin(results: number): void {
    this.#marks.clear();
    this.#trail = [];
    this.#frames = [];
    this.#frame = undefined;
    this.#height = 0;
    this.#loop = 0;
    this.enter({ params: 0, results });
  }

  get depth(): number {
    return this.#frames.length;
  }

  get isUnreachable(): boolean {
    return this.#current().unreachable;
  }

  push(value = UNKNOWN, distance = 0, local = -1): void {
    this.#stack[this.#height] = value;
    this.#stackDistances[this.#height] = distance;
    this.#stackLocals[this.#height] = local;
    this.#height++;
  }

  /** Returns the slot of what was taken off, to be looked at before the next push; -1 where there is none. */
  pop(): number {
    const { height, unreachable } = this.#current();
    if (this.#height > height) return --this.#height;
    if (!unreachable) throw new Untracked("the stack is empty");
    return -1;
  }

  valueAt(slot: number): number {
    return slot < 0 ? UNKNOWN : (this.#stack[slot] as number);
  }

  distanceAt(slot: number): number {
    return this.#stackDistances[slot] ?? 0;
  }

  /** A local that holds this value, at a distance; -1 where there is none any more. */
  localAt(slot: number): number {
    const local = this.#stackLocals[slot] ?? -1;
    return local >= 0 && this.#isKnown(local) && this.#values[local] === this.valueAt(slot) ? local : -1;
  }

  distanceOf(local: number): number {
    return this.#distances[local] as number;
  }

  held(local: number): [value: number, distance: number] {
    return [this.#values[local] as number, this.distanceOf(local)];
  }

  apply(pops: number, pushes: number): void {
    for (let left = pops; left > 0; left--) this.pop();
    for (let left = pushes; left > 0; left--) this.push();
  }

  /** i32.add, or i32.sub with a sign of -1. */
  add(sign: 1 | -1): void {
    const right = this.pop();
    const left = this.pop();
    const rightValue = this.valueAt(right);
    const leftValue = this.valueAt(left);
    if (rightValue === ZERO && leftValue !== UNKNOWN) {
      const distance = (this.distanceAt(left) + sign * this.distanceAt(right)) | 0;
      this.push(leftValue, distance, this.#stackLocals[left]);
    } else if (leftValue === ZERO && rightValue !== UNKNOWN && sign === 1) {
      const distance = (this.distanceAt(left) + this.distanceAt(right)) | 0;
      this.push(rightValue, distance, this.#stackLocals[right]);
    } else this.push();
  }

  getLocal(local: number, at: number): void {
    if (local >= MAX_LOCALS) throw new Untracked("more locals than allowed");
    if (!this.#isKnown(local)) this.#hold(local, ++this.#lastNumber, 0, at);
    this.push(this.#values[local], this.#distances[local], local);
  }

  setLocal(local: number, at: number): void {
    if (local >= MAX_LOCALS) throw new Untracked("more locals than allowed");
    const slot = this.pop();
    const value = this.valueAt(slot);
    if (value === UNKNOWN) this.#hold(local, ++this.#lastNumber, 0, at);
    else this.#hold(local, value, this.distanceAt(slot), at);
  }

  markOf(value: number): number | undefined {
    return this.#marks.get(value);
  }

  mark(value: number, distance: number): void {
    this.#trail.push({ value, before: this.#marks.get(value) });
    this.#marks.set(value, distance);
  }

  enter(signature: Signature): void {
    if (this.#frame !== undefined) this.apply(signature.params, 0);
    this.#frame = {
      id: ++this.#lastNumber,
      signature,
      height: this.#height,
      trail: this.#trail.length,
      loop: this.#loop,
      unreachable: false,
    };
    this.#frames.push(this.#frame);
    this.apply(0, signature.params);
  }

  enterLoop(signature: Signature, at: number): void {
    this.enter(signature);
    this.#loop = at;
  }

  /** Code after this is not reached before the block ends. */
  leave(): void {
    const frame = this.#current();
    frame.unreachable = true;
    this.#height = frame.height;
  }

  otherwise(): void {
    const frame = this.#close();
    frame.id = ++this.#lastNumber;
    frame.unreachable = false;
    this.apply(0, frame.signature.params);
  }

  end(): void {
    const { loop, signature } = this.#close();
    this.#frames.pop();
    this.#frame = this.#frames.at(-1);
    this.#loop = loop;
    if (this.#frame !== undefined) this.apply(0, signature.results);
  }

  #close(): Frame {
    const frame = this.#current();
    const expected = frame.height + frame.signature.results;
    if (frame.unreachable ? this.#height > expected : this.#height !== expected)
      throw new Untracked("a block leaves something else than it says");
    this.#height = frame.height;
    while (this.#trail.length > frame.trail) {
      const { value, before } = this.#trail.pop() as Trace;
      if (before === undefined) this.#marks.delete(value);
      else this.#marks.set(value, before);
    }
    return frame;
  }

  #current(): Frame {
    if (this.#frame === undefined) throw new Untracked("code goes on after the end");
    return this.#frame;
  }

  #isKnown(local: number): boolean {
    if (this.#frames[this.#depths[local] as number]?.id !== this.#frameIds[local]) return false;
    return (
      this.#loops[local] === this.#loop || (this.#lastSets[local] as number) < (this.#places[local] as number)
    );
  }

  #hold(local: number, value: number, distance: number, at: number): void {
    this.#values[local] = value;
    this.#distances[local] = distance;
    this.#depths[local] = this.#frames.length - 1;
    this.#frameIds[local] = this.#current().id;
    this.#loops[local] = this.#loop;
    this.#places[local] = at;
  }
}
