/**
 * A condition that must hold whenever the system is idle, whatever was killed before. Its SQL returns violations, one per row, as
 * text in the column `violation`.
 */
export interface Invariant {
  name: string;
  words: string;
  sql: string;
}
