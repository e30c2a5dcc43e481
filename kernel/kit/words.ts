/** Words and stems, as tools, memory and provenance compare them. */

export {
  capitalise,
  clipWord,
  dollars,
  foldedWords,
  indexedWords,
  isStop,
  listing,
  sayName,
  stem,
  trimEnd,
  wordsOfName,
} from "../text/words.ts";
