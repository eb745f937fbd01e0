import { type BadRecord, MAX_JSON_DEPTH, notJson, type RawRecord, tooDeep } from './input.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN = new Set([0x5b, 0x7b]);
const CLOSE = new Set([0x5d, 0x7d]);

/**
 * Returns whether the brackets of a text outside of its strings are nested deeper than the limit. Looks at each character once, also where the
 * text is no JSON: a pattern that looks for the end of a string would try each quote of a string that never ends.
 */
function isTooDeep(text: string): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (inString) {
      if (code === BACKSLASH) at += 1;
      else if (code === QUOTE) inString = false;
    } else if (code === QUOTE) inString = true;
    else if (OPEN.has(code)) depth += 1;
    else if (CLOSE.has(code)) depth -= 1;
    if (depth > MAX_JSON_DEPTH) return true;
  }
  return false;
}

/** Brackets that open; fewer of them than the limit cannot be nested too deep, which spares the scan of nearly every line. */
const mayBeDeep = (text: string): boolean => {
  let opened = 0;
  for (let at = 0; at < text.length; at += 1) if (OPEN.has(text.charCodeAt(at))) opened += 1;
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
