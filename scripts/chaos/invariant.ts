/**
 * Something that must be true of the database at any quiet moment, whatever was killed when. Its SQL finds what breaks it: each
 * row is one violation, in words, in the column `violation`.
 */
export interface Invariant {
  name: string;
  words: string;
  sql: string;
}
