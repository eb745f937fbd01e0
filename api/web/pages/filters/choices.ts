/** Words a list of values of which any counts: `A, B or C`. */
export const EITHER = new Intl.ListFormat('en', { type: 'disjunction' });

export type Choice = [value: string, name: string];

/** What a list can be narrowed by, as the form offers it. */
export interface Pick {
  name: string;
  label: string;
  /** What no choice means. */
  free: string;
  /** Undefined where any value is typed. */
  choices: Choice[] | undefined;
  /** Type of the input of a value. */
  type?: string;
  chosen: readonly string[];
  /** Undefined for one whose values cannot be left out. */
  isNot: boolean | undefined;
  /** The chosen values in words; undefined without any. */
  said: string | undefined;
  /** Says how the list is drawn, not what is in it. */
  isDisplay: boolean;
}

/** A choice of one of several, as the form offers it. */
export interface Select {
  name: string;
  label: string;
  choices: Choice[];
  chosen: string;
  /** Says how the list is drawn, not what is in it. */
  isDisplay: boolean;
}

/** Adds to the choices what is chosen and not among them, so that it stays chosen. */
export const withChosen = (choices: readonly Choice[], chosen: readonly string[], name: (value: string) => string): Choice[] => {
  const known = new Set(choices.map(([value]) => value));
  return [...choices, ...chosen.filter((value) => !known.has(value)).map((value): Choice => [value, name(value)])];
};
