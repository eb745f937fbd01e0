/** Limits of rendered params: the depth of a request body, the size of a stored event (docs/decisions/automation.md#template-limits). */
const MAX_DEPTH = 32;
const MAX_OUTPUT = 65_536; // bytes of texts and keys, plus one for each value
const MAX_SECRET_NAME = 80; // code points

type RenderFailure =
  | { ok: false; code: 'template_missing'; message: string; missing: string }
  | { ok: false; code: 'secret_missing'; message: string; secretMissing: string }
  | { ok: false; code: 'template_invalid' | 'template_too_deep' | 'template_too_large'; message: string };

export type RenderResult = { ok: true; value: unknown } | RenderFailure;

/** `position` counts code points from 0 in the text at `path` (`headers.authorization`); null if it concerns no single text. */
type TemplateCheck = { ok: true } | { ok: false; message: string; path: string; position: number | null };

/** A segment of a text. `at` is the offset of a fault in UTF-16 units. */
type Piece =
  | { kind: 'text'; text: string }
  | { kind: 'path'; path: string }
  | { kind: 'secret'; name: string }
  | { kind: 'fault'; message: string; at: number };

/** What templates read: the event, and the answers that earlier steps of the run got, by the names of the steps. */
interface TemplateScope {
  event: object;
  steps?: object | undefined;
}

/**
 * Renders an action's params. `{{event.task.title}}` is a dotted path over own properties; digits index a list. A template that
 * is its whole text keeps the value's type; inside text it becomes text (null becomes empty, lists and maps JSON).
 * `{{secret:NAME}}` calls `secrets`; if that returns undefined, the reference fails and is never sent. One pass: a rendered value
 * is not rendered again. Keys of the params hold no templates. The scope is JSON data, so its keys are not trusted.
 */
export function renderTemplates(
  params: unknown,
  event: object,
  { secrets = () => undefined, steps }: { secrets?: (name: string) => string | undefined; steps?: object | undefined } = {},
): RenderResult {
  const scope = { event, steps };
  const room = new Room();
  const fill = (text: string, depth: number): unknown => {
    const pieces = splitPieces(text);
    const [only] = pieces;
    if (pieces.length === 1 && only?.kind === 'path') return copy(valueAt(only.path, scope), depth, room, room.keep);
    return pieces.map((piece) => room.keep(toText(piece, scope, secrets))).join('');
  };
  const name = (key: string): string => {
    if (!key.includes(OPEN)) return room.keep(key);
    throw new RenderError({ ok: false, code: 'template_invalid', message: IN_NAME });
  };
  return unlessRefused(() => copy(params, 0, room, fill, name));
}

/** Renders a text that stays text, even if one template is all of it. */
export function renderText(text: string, event: object, steps?: object): { ok: true; value: string } | RenderFailure {
  const room = new Room();
  const scope = { event, steps };
  return unlessRefused(() =>
    splitPieces(text)
      .map((piece) => room.keep(toText(piece, scope, () => undefined)))
      .join(''),
  );
}

function unlessRefused<T>(render: () => T): { ok: true; value: T } | RenderFailure {
  try {
    return { ok: true, value: render() };
  } catch (error) {
    if (error instanceof RenderError) return error.failure;
    throw error;
  }
}

/** Returns the names of all `{{secret:NAME}}` references in the params, each once, in order of appearance. */
export function findSecretHandles(params: unknown): string[] {
  const names = new Set<string>();
  for (const { text, isName } of textsIn(params)) {
    if (isName) continue;
    for (const piece of splitPieces(text ?? '')) if (piece.kind === 'secret') names.add(piece.name);
  }
  return [...names];
}

/** Returns every path of a template in the params with the place of its text, each pair once. */
export function findPaths(params: unknown): { place: string; path: string }[] {
  const found = new Map<string, { place: string; path: string }>();
  for (const { path: place, text, isName } of textsIn(params)) {
    if (isName) continue;
    for (const piece of splitPieces(text ?? ''))
      if (piece.kind === 'path') found.set(`${place} ${piece.path}`, { place, path: piece.path });
  }
  return [...found.values()];
}

/** Validates params on save; whether a path or a secret exists is known only during the run. */
export function checkTemplates(params: unknown): TemplateCheck {
  for (const { path, text, isName } of textsIn(params)) {
    if (text === null) return { ok: false, message: TOO_DEEP, path, position: null };
    const fault = isName ? faultOfName(text) : splitPieces(text).find((piece) => piece.kind === 'fault');
    if (fault) return { ok: false, message: fault.message, path, position: countCharacters(text.slice(0, fault.at)) };
  }
  return { ok: true };
}

/** Returns whether a name has 1 to 80 code points and no braces, slashes or control characters. */
export function isSecretName(name: string): boolean {
  const length = countCharacters(name);
  return length >= 1 && length <= MAX_SECRET_NAME && !/[{}/\p{Cc}]/u.test(name);
}

const OPEN = '{{';
const IN_NAME = 'A name holds no template, only a value does';
const TOO_DEEP = `Params are nested deeper than ${MAX_DEPTH} levels`;

class RenderError extends Error {
  constructor(readonly failure: RenderFailure) {
    super(failure.message);
  }
}

/** Output budget against amplification: a ten-character template may stand for a whole event. */
class Room {
  #left = MAX_OUTPUT;

  spend(bytes: number): void {
    this.#left -= bytes;
    if (this.#left >= 0) return;
    throw new RenderError({ ok: false, code: 'template_too_large', message: `Params grow beyond ${MAX_OUTPUT} bytes` });
  }

  readonly keep = (text: string): string => {
    this.spend(Buffer.byteLength(text));
    return text;
  };
}

/** Copies JSON data with each text passed through `onText` and each key through `onName`; shares nothing with the source. */
function copy(
  value: unknown,
  depth: number,
  room: Room,
  onText: (text: string, depth: number) => unknown,
  onName: (name: string) => string = room.keep,
): unknown {
  room.spend(1);
  if (typeof value === 'string') return onText(value, depth);
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : room.keep(value.toISOString());
  if (typeof value !== 'object') return null; // not JSON
  if (depth === MAX_DEPTH) throw new RenderError({ ok: false, code: 'template_too_deep', message: TOO_DEEP });
  if (Array.isArray(value)) return value.map((item) => copy(item, depth + 1, room, onText, onName));
  // fromEntries defines properties, so a key named __proto__ stays a key.
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .map(([key, item]) => [onName(key), copy(item, depth + 1, room, onText, onName)]),
  );
}

interface PlacedText {
  path: string;
  text: string | null;
  isName: boolean;
}

/** Yields all texts of the params with their paths, including keys; a null text marks a branch that is too deep. */
function* textsIn(value: unknown, path = '', depth = 0): Generator<PlacedText> {
  if (typeof value === 'string') yield { path, text: value, isName: false };
  if (typeof value !== 'object' || value === null) return;
  if (depth === MAX_DEPTH) return yield { path, text: null, isName: false };
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined) continue; // JSON drops it too
    const place = path === '' ? key : `${path}.${key}`;
    yield { path: place, text: key, isName: true };
    yield* textsIn(item, place, depth + 1);
  }
}

/** @throws Refused for a missing path or secret, and for a text that checkTemplates rejects */
function toText(piece: Piece, scope: TemplateScope, secrets: (name: string) => string | undefined): string {
  if (piece.kind === 'text') return piece.text;
  if (piece.kind === 'fault') throw new RenderError({ ok: false, code: 'template_invalid', message: piece.message });
  if (piece.kind === 'secret') {
    const secret = secrets(piece.name);
    if (typeof secret === 'string') return secret; // anything else means that the secret does not exist
    const message = `Secret ${piece.name} does not exist`;
    throw new RenderError({ ok: false, code: 'secret_missing', message, secretMissing: piece.name });
  }
  // Copied first to bound the work of JSON.stringify; separate budget, since only the text counts.
  const scratch = new Room();
  const value = copy(valueAt(piece.path, scope), 0, scratch, scratch.keep);
  if (value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function valueAt(path: string, scope: TemplateScope): unknown {
  let value: unknown = scope;
  for (const step of path.split('.')) value = stepInto(value, step);
  if (value !== undefined) return value;
  throw new RenderError({ ok: false, code: 'template_missing', message: `${path} is not in the event`, missing: path });
}

/** Reads own properties only: a list has entries but no length, a text has nothing. */
function stepInto(value: unknown, step: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
  if (Array.isArray(value) && !isDigits(step)) return undefined;
  return (value as Record<string, unknown>)[step];
}

function faultOfName(name: string): { message: string; at: number } | undefined {
  const at = name.indexOf(OPEN);
  return at === -1 ? undefined : { message: IN_NAME, at };
}

const countCharacters = (text: string): number => Array.from(text).length; // code points
const isDigits = (text: string): boolean => /^[0-9]+$/.test(text);

/** Splits a text at its templates, left to right, in linear time. */
function splitPieces(text: string): Piece[] {
  const pieces: Piece[] = [];
  let done = 0;
  while (done < text.length) {
    const open = text.indexOf(OPEN, done);
    if (open !== done) pieces.push({ kind: 'text', text: text.slice(done, open === -1 ? undefined : open) });
    if (open === -1) break;
    const close = text.indexOf('}}', open + 2);
    if (close === -1) {
      pieces.push({ kind: 'fault', message: 'A template is opened with {{ and never closed', at: open });
      break;
    }
    pieces.push(readTemplate(text.slice(open + 2, close).trim(), open));
    done = close + 2;
  }
  return pieces;
}

/** Parses the text between the braces. */
function readTemplate(inner: string, at: number): Piece {
  const fault = (message: string): Piece => ({ kind: 'fault', message, at });
  if (inner === '') return fault('A template is empty');
  if (inner.startsWith('secret:')) {
    const name = inner.slice('secret:'.length).trim();
    if (isSecretName(name)) return { kind: 'secret', name };
    return fault(`A secret's name has 1 to ${MAX_SECRET_NAME} characters and no braces, slashes or control characters`);
  }
  const [root, ...steps] = inner.split('.');
  if (root !== 'event' && root !== 'steps') return fault('A template starts with event., steps. or secret:');
  if (steps.includes('')) return fault('A path has an empty step');
  if (steps.some((step) => /[\s{}()[\]|"'`\p{Cc}]/u.test(step)))
    return fault('A path is names and digits joined by dots, no code');
  return { kind: 'path', path: inner };
}
