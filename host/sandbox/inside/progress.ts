/** How far a thread has come with its numbered calls, in memory that it shares with the main thread of its process. */
const FIELDS = [
  /** The call that was begun last. */
  "begun",
  /** Calls that are over, instance and all. */
  "left",
  "waiting",
  /** Replies that it has come to. */
  "heard",
  "inside",
  /** Another number whenever the thread came on. */
  "steps",
  "isWanted",
] as const;
type Field = (typeof FIELDS)[number];

export class Progress {
  readonly shared: Int32Array<SharedArrayBuffer>;

  constructor(shared = new Int32Array(new SharedArrayBuffer(4 * FIELDS.length))) {
    this.shared = shared;
  }

  get(field: Field): number {
    return Atomics.load(this.shared, FIELDS.indexOf(field));
  }

  /** From now on no further call up to `last` is begun; returns the last that was. */
  takeBack(last: number): number {
    return Atomics.exchange(this.shared, FIELDS.indexOf("begun"), last);
  }

  /** True where somebody wants to know of each call that begins to wait, because others could run meanwhile. */
  set isWanted(is: boolean) {
    Atomics.store(this.shared, FIELDS.indexOf("isWanted"), is ? 1 : 0);
  }

  /** The thread's side. False where the call was taken back. */
  begin(number: number): boolean {
    const at = FIELDS.indexOf("begun");
    if (Atomics.compareExchange(this.shared, at, number - 1, number) !== number - 1) return false;
    this.enter(number);
    return true;
  }

  enter(number: number): void {
    Atomics.store(this.shared, FIELDS.indexOf("inside"), number);
    this.#add("steps", 1);
  }

  /** Returns true where somebody wants to know that. */
  wait(): boolean {
    this.#add("waiting", 1);
    this.enter(0);
    return this.get("isWanted") === 1;
  }

  hear(): void {
    this.#add("heard", 1);
  }

  resume(number: number): void {
    this.#add("waiting", -1);
    this.enter(number);
  }

  leave(): void {
    this.#add("left", 1);
    this.enter(0);
  }

  #add(field: Field, count: number): void {
    Atomics.add(this.shared, FIELDS.indexOf(field), count);
  }
}
