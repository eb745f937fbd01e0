import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { EVENT_TYPES, EVENTS } from '../../../../api/platform/events/event-types.js';

const root = resolve(import.meta.dirname, '../../../..');
const CATALOGUE = 'api/platform/events/catalogue';

/** Source files below some folders, by their paths. */
const readSources = (folders: readonly string[]) =>
  folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .map((file) => `${folder}/${file.replaceAll('\\', '/')}`)
      .filter((file) => /\.(ts|sql)$/.test(file))
      .map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') })),
  );

/** Examples of the document and the declarations name events, but write none. */
const writers = readSources(['api', 'activities', 'db/migrations'])
  .filter(({ file }) => !file.startsWith('api/http/') && !file.startsWith('api/platform/events/'))
  .map(({ text }) => text)
  .join('\n');

/** Each way to write an event names its type after one of these words; in a union of types a `|` follows. */
const WRITES =
  /(?:\btype: |\bevent: |event_type => |eventType\(|runEvent\(|(?:publish|enqueueCascade)\(ctx, |\brow\('\w+', .*, )'([a-z_.]+)'(?! \|)/g;
const written = new Set([...writers.matchAll(WRITES)].map(([, type]) => type));

it('the code writes every stored event', () => {
  expect(EVENT_TYPES.filter((type) => !written.has(type))).toEqual([]);
});

it('an event that is only named, or that no declaration has, counts as not written', () => {
  // Derived from others, so no statement writes it; the table of triggers names it.
  expect(written.has('task.completed')).toBe(false);
  expect(written.has('task.paused')).toBe(false);
});

it('a declaration stands in the file with the first word of its name', () => {
  const files = readSources([CATALOGUE]);
  // Alerts about dependencies come from the code host too.
  const getWord = (name: string) => (name === 'security.dependency_alert' ? 'forge' : name.split('.', 1)[0]!);
  for (const [name] of EVENTS) {
    const word = getWord(name).replaceAll('_', '-');
    const found = files.filter(({ text }) => text.includes(`'${name}': `)).map(({ file }) => file);
    expect([`${CATALOGUE}/${word}.ts`, `${CATALOGUE}/${word}s.ts`]).toEqual(expect.arrayContaining(found));
    expect(found).toHaveLength(1);
  }
});
