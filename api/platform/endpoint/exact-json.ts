import { invalid } from '../errors.js';

/** Digits of a number that are read: more are refused, before they cost anything. */
const MAX_NUMBER = 400;
/** Levels of objects and lists that are read; deeper ones would overflow recursive readers (docs/decisions/platform.md#request-bodies). */
export const MAX_DEPTH = 32;

/** Blank, tab, line feed and carriage return. */
const BLANKS: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);
const NUMBER = /-?\d[\d.eE+-]*/y;

/** Returns the value of a number's text as sign, digits and exponent: the same for 1.50, 15e-1 and 1.5. */
function toDecimal(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const kept = digits.replace(/0+$/, '');
  return kept === '' ? '0' : `${sign}${kept}e${Number(exponent) - fraction.length + digits.length - kept.length}`;
}

/** Whether every program reads the number alike: a double holds it, and the double's shortest text denotes the same number. */
function isExact(text: string): boolean {
  if (/^-?\d{1,15}$/.test(text)) return true;
  if (text.length > MAX_NUMBER) return false;
  const number = Number(text);
  return Number.isFinite(number) && toDecimal(text) === toDecimal(String(number));
}

/** A member of an object, or an index of a list, that leads to a value. */
type Step = string | number;

/** Shows a place as a JSON pointer (RFC 6901). */
const toPointer = (path: readonly Step[]): string =>
  path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

/** Walks over a text that is JSON, and refuses what programs read differently. */
class ExactReader {
  private at = 0;
  private readonly path: Step[] = [];

  constructor(private readonly text: string) {}

  /** @throws INVALID_REQUEST */
  check(): void {
    this.skipBlanks();
    const first = this.text[this.at];
    if ((first === '{' || first === '[') && this.path.length >= MAX_DEPTH)
      this.refuse(`The body nests deeper than ${MAX_DEPTH} levels`);
    if (first === '{') this.checkObject();
    else if (first === '[') this.checkList();
    else if (first === '"') this.readString();
    else if (first === '-' || (first !== undefined && first >= '0' && first <= '9')) this.checkNumber();
    // true, false or null.
    else while (/[a-z]/.test(this.text[this.at] ?? '')) this.at += 1;
    this.skipBlanks();
  }

  private refuse(message: string): never {
    const path = toPointer(this.path);
    throw invalid(message, { detail: `At ${path === '' ? 'the body' : path}`, extra: { reason: 'inexact_json', path } });
  }

  private skipBlanks(): void {
    while (BLANKS.has(this.text.charCodeAt(this.at))) this.at += 1;
  }

  /** Returns the string that begins here. Most have no escape: the next quote ends them, and their text is their value. */
  private takeString(): string {
    const start = this.at;
    const plain = this.text.slice(start + 1, this.text.indexOf('"', start + 1));
    this.at += plain.length + 2;
    if (!plain.includes('\\')) return plain;
    this.at = start + 1;
    while (this.text[this.at] !== '"') this.at += this.text[this.at] === '\\' ? 2 : 1;
    this.at += 1;
    return JSON.parse(this.text.slice(start, this.at)) as string;
  }

  private readString(): string {
    const text = this.takeString();
    if (!text.isWellFormed()) this.refuse('A text has half of a surrogate pair');
    if (text.includes('\0')) this.refuse('A text has U+0000, where many programs end it');
    return text;
  }

  private checkNumber(): void {
    NUMBER.lastIndex = this.at;
    const [text = ''] = NUMBER.exec(this.text) ?? [];
    if (!isExact(text)) this.refuse(`Programs read the number ${text.slice(0, 40)} with different values`);
    this.at += text.length;
  }

  private checkObject(): void {
    const names = new Set<string>();
    this.at += 1;
    this.skipBlanks();
    while (this.text[this.at] !== '}') {
      if (this.text[this.at] === ',') this.at += 1;
      this.skipBlanks();
      const name = this.readString();
      this.path.push(name);
      if (names.has(name)) this.refuse('An object has the same member twice');
      names.add(name);
      this.skipBlanks();
      this.at += 1;
      this.check();
      this.path.pop();
    }
    this.at += 1;
  }

  private checkList(): void {
    this.at += 1;
    this.skipBlanks();
    for (let index = 0; this.text[this.at] !== ']'; index += 1) {
      if (this.text[this.at] === ',') this.at += 1;
      this.path.push(index);
      this.check();
      this.path.pop();
    }
    this.at += 1;
  }
}

/**
 * Checks that every program reads a JSON text alike, so that what is shown, hashed and executed is one value. `text` is JSON.
 * @throws INVALID_REQUEST with `reason: inexact_json` and `path`, a JSON pointer: an object has a member twice, also one written with escapes; a number
 * that a double does not hold exactly; half of a surrogate pair; U+0000; more than 32 levels
 */
export const checkExactJson = (text: string): void => new ExactReader(text).check();
