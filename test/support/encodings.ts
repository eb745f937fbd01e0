/** The inside of a text as something else writes it that holds the text; one character at a time, so it may be cut anywhere between. */
export type Spelling = (text: string) => string;

const json: Spelling = (text) => JSON.stringify(text).slice(1, -1);
const hex = (text: string, length: number): string => text.charCodeAt(0).toString(16).padStart(length, '0');
const escaped = (text: string, which: RegExp): string => text.replace(which, (unit) => `\\u${hex(unit, 4)}`);
const NAMES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&#34;', "'": '&#x27;', '/': '&#x2F;' };

/** What stands for `json_encode`, `json.dumps`, `json.Marshal`, `html.EscapeString` and the like. */
export const SPELLINGS = {
  json,
  php: (text) => escaped(json(text), /[\u0080-\uffff]/g).replaceAll('/', '\\/'),
  python: (text) => escaped(json(text), /[\u007f-\uffff]/g),
  go: (text) => escaped(json(text), /[<>&\u2028\u2029]/g),
  html: (text) => text.replace(/[&<>"'/]/g, (char) => NAMES[char] as string),
  percent: (text) => encodeURIComponent(text),
  form: (text) => new URLSearchParams([['', text]]).toString().slice(1),
} satisfies Record<string, Spelling>;
