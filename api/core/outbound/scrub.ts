/** Stands where a secret was. */
const HIDDEN = '[secret]';
/** A shorter form would hide half of any text and tell nothing. */
const SHORTEST_FORM = 4;

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** The inside of a base64 text that holds `bytes` somewhere: what does not depend on its neighbours, for each of three positions. */
function base64Forms(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    const inner = text.slice(before === 0 ? 0 : before + 1, (before + bytes.length) % 3 === 0 ? undefined : -1);
    return [inner, inner.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

const lowerEscapes = (text: string): string => text.replace(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase());

/** How a secret may come back: as it is, or as one of the usual codes writes it. */
function formsOf(secret: string): string[] {
  const hex = Buffer.from(secret).toString('hex');
  const inJson = JSON.stringify(secret).slice(1, -1);
  const escaped = [
    encodeURIComponent(secret),
    new URLSearchParams([['', secret]]).toString().slice(1),
    new URL(`http://h/?${secret}`).search.slice(1),
    new URL(`http://h/${secret}`).pathname.slice(1),
  ];
  const forms = [
    secret.trim(),
    inJson,
    secret.replace(/[&<>"']/g, (char) => ENTITIES[char] as string),
    ...escaped,
    ...escaped.map(lowerEscapes),
    // A body that was echoed in base64 holds it as the body did.
    ...[secret, inJson, ...escaped].flatMap((form) => base64Forms(Buffer.from(form))),
    hex,
    hex.toUpperCase(),
  ];
  return [secret, ...forms.filter((form) => form.length >= SHORTEST_FORM)].filter((form) => form !== '');
}

/** Where `form` stands in `text`, overlaps too. */
function* spansOf(text: string, form: string): Generator<[from: number, to: number]> {
  for (let at = text.indexOf(form); at !== -1; at = text.indexOf(form, at + 1)) yield [at, at + form.length];
}

/**
 * Takes what was secret in a request out of what came back for it, however the other side wrote it. Of a text that was cut
 * (`isCut`) the end is left out, as long as the longest form is: half a secret is one too. Source: T-SECRET.
 */
export function scrub(secrets: Iterable<string>, text: string, isCut = false): string {
  const forms = [...new Set([...secrets].flatMap(formsOf))];
  const longest = Math.max(0, ...forms.map(({ length }) => length));
  const whole = isCut ? text.slice(0, Math.max(0, text.length - longest)) : text;
  const spans = forms.flatMap((form) => [...spansOf(text, form)]).sort(([a], [b]) => a - b);
  let out = '';
  let done = 0;
  for (const [from, to] of spans) {
    if (from >= whole.length) break;
    if (from >= done) out += `${whole.slice(done, from)}${HIDDEN}`;
    done = Math.max(done, to);
  }
  return (out + whole.slice(done)).toWellFormed();
}
