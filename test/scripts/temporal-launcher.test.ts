import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { anyFreePort } from '../../scripts/embedded/ports.mjs';
import { startTemporal } from '../../scripts/embedded/temporal.mjs';
import { obtainCli } from '../../scripts/embedded/temporal-cli.mjs';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'assent-launcher-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const freePorts = async () => ({ grpc: await anyFreePort(), http: await anyFreePort(), metrics: await anyFreePort(), ui: null });

/** The server's command, which for its first starts says that it lost a port, and ends. */
async function losing(port: number, times: number): Promise<string> {
  const { path } = await obtainCli(() => undefined);
  const command = join(dir, 'temporal');
  writeFileSync(
    command,
    `#!/bin/sh
if [ "$1" = server ]; then
  echo start >> '${dir}/starts'
  if [ "$(wc -l < '${dir}/starts')" -le ${times} ]; then
    echo 'level=ERROR error="listen tcp 127.0.0.1:${port}: bind: address already in use"' >&2
    exit 2
  fi
fi
exec '${path}' "$@"
`,
  );
  chmodSync(command, 0o755);
  return command;
}

const startWith = (cli: string, ports: Awaited<ReturnType<typeof freePorts>>) =>
  startTemporal({ cli, base: join(dir, 'data'), log: join(dir, 'log'), mode: 'test', ports });

test('a server that lost a port of its own choice to another process is started again', async () => {
  const ports = await freePorts();
  const server = await startWith(await losing(await anyFreePort(), 2), ports);
  expect(server.address).toBe(`127.0.0.1:${ports.grpc}`);
  await server.stop(500);
});

test('a server whose drawn port another process has taken meanwhile is started with others', async () => {
  const ports = await freePorts();
  const { path } = await obtainCli(() => undefined);
  const taken = ports.metrics;
  const other = createServer().listen(taken, '127.0.0.1');
  try {
    const server = await startWith(path, ports);
    expect(ports.metrics).not.toBe(taken);
    await server.stop(500);
  } finally {
    other.close();
  }
});

test('one that always loses a port, or loses one that was named to it, is an error with a cure', async () => {
  const ports = await freePorts();
  const refused = { message: 'Temporal did not start: one of its ports is taken.' };
  await expect(startWith(await losing(await anyFreePort(), 9), ports)).rejects.toMatchObject(refused);
  rmSync(join(dir, 'starts'));
  await expect(startWith(await losing(ports.grpc, 1), ports)).rejects.toMatchObject(refused);
});
