/**
 * Converts a value to JSON text that jsonb accepts: NUL and halves of surrogate pairs become U+FFFD, as in `normalise`; a number
 * beyond a double becomes null. Works on the escapes of `JSON.stringify`, so it covers keys too.
 */
export const storableJson = (value: unknown): string =>
  JSON.stringify(value).replace(/\\(?:u[0-9a-f]{4}|.)/g, (escape) => (/^\\u(?:0000|d)/.test(escape) ? '\\ufffd' : escape));
