/** Collects the parameters of a statement whose text depends on the filters that are given. */
export class Parameters {
  readonly values: unknown[] = [];
  /** Adds a value; returns its place in the text, such as `$3::uuid`. */
  readonly add = (value: unknown, type: string): string => `$${this.values.push(value)}::${type}`;
}
