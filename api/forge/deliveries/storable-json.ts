/**
 * A value as JSON text that jsonb takes: NUL and halves of surrogate pairs become U+FFFD, as `normalise` reads them; a number
 * beyond a double becomes null. Works on the escapes that `JSON.stringify` writes, so that keys are covered too.
 */
export const storableJson = (value: unknown): string =>
  JSON.stringify(value).replace(/\\(?:u[0-9a-f]{4}|.)/g, (escape) => (/^\\u(?:0000|d)/.test(escape) ? '\\ufffd' : escape));
