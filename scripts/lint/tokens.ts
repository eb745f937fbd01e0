/** A piece of a source file: a name, a comment, or what stands between quotes. */
export interface Token {
  kind: 'name' | 'comment' | 'text';
  text: string;
  /** Where it begins in the file. */
  at: number;
  /** The two tokens before it, comments not counted. */
  before: string;
}

const REGEXP = /\/(?![*/\s])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y;
const TOKEN = /\/\*[\s\S]*?\*\/|\/\/.*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|[A-Za-z_$][\w$]*|\d[\w.]*|\s+|[\s\S]/y;
/** After these a slash begins a regular expression, elsewhere it divides. */
const BEFORE_REGEXP = /^$|^[=(,:;!&|?{}[+>]$|^(return|typeof|case)$/;
const TEMPLATE_PART = /(?:[^`\\$]|\\[\s\S]|\$(?!\{))*/y;

const match = (pattern: RegExp, source: string, at: number): string => {
  pattern.lastIndex = at;
  return pattern.exec(source)?.[0] ?? '';
};

/** Splits TypeScript into names, comments and texts; numbers, operators and regular expressions are left out. */
export function readTokens(source: string): Token[] {
  const found: Token[] = [];
  /** Open braces in each open `${` of a template. */
  const braces: number[] = [];
  let [at, earlier, before] = [0, '', ''];
  const push = (kind: Token['kind'], text: string, start: number): number =>
    found.push({ kind, text, at: start, before: earlier + before });
  const readTemplate = (): void => {
    const text = match(TEMPLATE_PART, source, at);
    push('text', text, at);
    at += text.length;
    if (source.startsWith('${', at)) braces.push(0);
    at += source.startsWith('${', at) ? 2 : 1;
    [earlier, before] = ['', source[at - 1] ?? ''];
  };
  while (at < source.length) {
    const regexp = source[at] === '/' && BEFORE_REGEXP.test(before) ? match(REGEXP, source, at) : '';
    const text = regexp || match(TOKEN, source, at);
    const start = at;
    at += text.length;
    const first = text[0] ?? '';
    if (/\s/.test(first)) continue;
    if (/^\/[*/]/.test(text)) {
      push('comment', text, start);
      continue;
    }
    const depth = braces.at(-1);
    if (text === '`' || (text === '}' && depth === 0)) {
      if (text === '}') braces.pop();
      readTemplate();
      continue;
    }
    if (depth !== undefined && (text === '{' || text === '}')) braces[braces.length - 1] = depth + (text === '{' ? 1 : -1);
    if (text.length > 1 && /['"]/.test(first)) push('text', text.slice(1, -1), start);
    else if (regexp === '' && /[A-Za-z_$]/.test(first)) push('name', text, start);
    [earlier, before] = [before, text];
  }
  return found;
}
