import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { LogStream } from '../../../api/platform/telemetry/log-stream.js';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'assent-log-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** A descriptor that takes nothing: a full disk where the system has one to offer, else a file open for reading. */
const openFull = (): number => (existsSync('/dev/full') ? openSync('/dev/full', 'w') : openSync(import.meta.filename, 'r'));

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(5);
}

it('writes every line, in order, also when far more comes than one write takes', async () => {
  const file = join(dir, 'many.log');
  const fd = openSync(file, 'w');
  const stream = new LogStream(fd, (lines) => {
    throw new Error(`dropped ${lines}`);
  });
  const lines = Array.from({ length: 5_000 }, (_, i) => `{"line":${i},"text":"${'ä'.repeat(20)}"}\n`);
  for (const [i, line] of lines.entries()) {
    stream.write(line);
    if (i % 1_000 === 999) await sleep(1);
  }
  await until(() => readFileSync(file, 'utf8').length === lines.join('').length);
  stream.close();
  expect(readFileSync(file, 'utf8')).toBe(lines.join(''));
  closeSync(fd);
});

it('writes a single line soon, and what is left when it closes', async () => {
  const file = join(dir, 'few.log');
  const fd = openSync(file, 'w');
  const stream = new LogStream(fd, () => undefined);
  stream.write('one\n');
  await until(() => readFileSync(file, 'utf8') === 'one\n');
  stream.write('two\n');
  stream.close();
  expect(readFileSync(file, 'utf8')).toBe('one\ntwo\n');
  closeSync(fd);
});

it('counts every line that a full disk does not take, and goes on', async () => {
  const fd = openFull();
  let dropped = 0;
  const stream = new LogStream(fd, (lines) => (dropped += lines));
  for (let i = 0; i < 10; i += 1) stream.write(`line ${i}\n`);
  stream.flush();
  await until(() => dropped === 10);
  stream.write('one more\n');
  stream.close();
  expect(dropped).toBe(11);
  closeSync(fd);
});

it('holds a bounded number of bytes while nothing is written', () => {
  const fd = openFull();
  let dropped = 0;
  const stream = new LogStream(fd, (lines) => (dropped += lines));
  // The first write is in progress until this function ends; later lines can only be buffered.
  for (let i = 0; i < 3_000; i += 1) stream.write(`${'x'.repeat(999)}\n`);
  expect(dropped).toBeGreaterThan(1_500);
  expect(dropped).toBeLessThan(3_000);
  stream.close();
  closeSync(fd);
});
