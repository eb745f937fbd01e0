import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';

interface StaticFile {
  type: string;
  bytes: Buffer;
}

const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};
const PREFIX = '/app/assets/';

const own = (name: string): string => fileURLToPath(new URL(`../assets/${name}`, import.meta.url));

/** Source of each file: our own, or published by a package. Nothing is loaded from other hosts. */
const sources = (): Record<string, string> => {
  const require = createRequire(import.meta.url);
  return {
    'pico.css': own('vendor/pico.min.css'),
    'htmx.js': require.resolve('htmx.org/dist/htmx.min.js'),
    'app.css': own('app.css'),
    'app.js': own('app.js'),
    'keys.js': own('keys.js'),
    'chooser.js': own('chooser.js'),
    'quick.js': own('quick.js'),
    'rows.js': own('rows.js'),
    'peek.js': own('peek.js'),
    'instant.js': own('instant.js'),
    'decisions.js': own('decisions.js'),
    'ticks.js': own('ticks.js'),
    'undo.js': own('undo.js'),
    'kept.js': own('kept.js'),
    'saves.js': own('saves.js'),
    'work.js': own('work.js'),
    'in-place.js': own('in-place.js'),
    'follow.js': own('follow.js'),
    'mention.js': own('mention.js'),
    'suggest.js': own('suggest.js'),
    'unsent.js': own('unsent.js'),
    'paste.js': own('paste.js'),
    'builder.js': own('builder.js'),
    'drafts.js': own('drafts.js'),
    'logo.svg': own('logo.svg'),
  };
};

export interface StaticFiles {
  /** Returns the path of a file; it contains the content hash, so browsers may cache it forever. */
  buildAddress: (name: string) => string;
  at: (path: string) => StaticFile | undefined;
}

/** Reads the files once, on first use, and names each after its content. */
export function createStaticFiles(): StaticFiles {
  let loaded: { byName: Map<string, string>; byPath: Map<string, StaticFile> } | undefined;
  const load = () => {
    const byName = new Map<string, string>();
    const byPath = new Map<string, StaticFile>();
    for (const [name, path] of Object.entries(sources())) {
      const bytes = readFileSync(path);
      const extension = extname(name);
      const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
      const address = `${PREFIX}${name.slice(0, -extension.length)}.${hash}${extension}`;
      byName.set(name, address);
      byPath.set(address, { type: TYPES[extension] as string, bytes });
    }
    return { byName, byPath };
  };
  return {
    buildAddress(name) {
      const address = (loaded ??= load()).byName.get(name);
      if (!address) throw new Error(`No such file of the web app: ${name}`);
      return address;
    },
    at: (path) => (path.startsWith(PREFIX) ? (loaded ??= load()).byPath.get(path) : undefined),
  };
}
