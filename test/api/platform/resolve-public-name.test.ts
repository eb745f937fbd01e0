import { spawnSync } from 'node:child_process';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { closeSync, constants, mkdtempSync, openSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resolvePublicName } from '../../../api/platform/http-client/resolve.js';

const A = 1;
let server: Socket;
let address: string;

/** A name server that knows one IPv4 address of every name but those below "slow", which it never answers. */
beforeAll(async () => {
  server = createSocket('udp4');
  server.on('message', (question, { port, address: asker }) => {
    if (question.includes('slow')) return;
    const end = question.indexOf(0, 12) + 5;
    const answer = Buffer.concat([
      question.subarray(0, end),
      Buffer.from('c00c00010001000000000004', 'hex'),
      Buffer.from([93, 184, 216, 34]),
    ]);
    const hasAnswer = question.readUInt16BE(end - 4) === A;
    // A response without further sections.
    answer.writeUInt16BE(0x8180, 2);
    answer.writeUInt16BE(hasAnswer ? 1 : 0, 6);
    answer.writeUInt32BE(0, 8);
    server.send(hasAnswer ? answer : answer.subarray(0, end), port, asker);
  });
  server.bind(0, '127.0.0.1');
  await once(server, 'listening');
  address = `127.0.0.1:${server.address().port}`;
});
afterAll(() => server.close());

const FOUND = [{ address: '93.184.216.34', family: 4 }];

it('finds the addresses of a name, with or without its dot, and none of one whose name servers keep silent', async () => {
  expect(await resolvePublicName('hooks.example.com', 5_000, [address])).toEqual(FOUND);
  expect(await resolvePublicName('hooks.example.com.', 5_000, [address])).toEqual(FOUND);
  expect(await resolvePublicName('hooks.slow.example', 200, [address])).toEqual([]);
});

it('needs none of the threads that slow look-ups of the system occupy', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'assent-threads-'));
  const pipes = Array.from({ length: 16 }, (_one, n) => join(dir, `${n}`));
  expect(spawnSync('mkfifo', pipes).status).toBe(0);
  // Opening a pipe holds a thread until somebody writes; there are four of them unless the environment says otherwise.
  const held = pipes.map((pipe) => open(pipe, 'r'));
  expect(await resolvePublicName('hooks.example.com', 5_000, [address])).toEqual(FOUND);
  const writers: number[] = [];
  for (const pipe of pipes) writers.push(openSync(pipe, constants.O_RDWR));
  for (const handle of await Promise.all(held)) await handle.close();
  for (const writer of writers) closeSync(writer);
  rmSync(dir, { recursive: true });
});
