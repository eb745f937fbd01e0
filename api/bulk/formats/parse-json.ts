import { type BadRecord, MAX_JSON_DEPTH, notJson, type RawRecord, tooDeep } from './input.js';

/** Matches the whole of each string, and each bracket outside of strings. Linear time. */
const TOKENS = /"(?:[^"\\]|\\.)*"|[[\]{}]/gs;

/** Returns whether the nesting of JSON text exceeds the limit; short texts cannot. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  for (const [token] of text.matchAll(TOKENS)) {
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth -= 1;
    if (depth > MAX_JSON_DEPTH) return true;
  }
  return false;
}

/** Brackets that open; fewer of them than the limit cannot be nested too deep, which spares the scan of nearly every line. */
const mayBeDeep = (text: string): boolean => {
  let opened = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x7b || code === 0x5b) opened += 1;
  }
  return opened > MAX_JSON_DEPTH;
};

/** Parses the JSON of one record. */
export function parseRecord(line: number, text: string): RawRecord | BadRecord {
  if (mayBeDeep(text) && isTooDeep(text)) return { line, problem: tooDeep };
  try {
    return { line, value: JSON.parse(text) as unknown };
  } catch {
    return { line, problem: notJson };
  }
}
