import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { once } from 'node:events';
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

/** Starts a server, again with other ports where another program of the machine has taken the one that was named to it. */
async function startSomewhere(cli: () => Promise<string>, named: object = {}, tries = 5) {
  rmSync(join(dir, 'starts'), { force: true });
  const ports = { ...(await freePorts()), ...named };
  try {
    return { ports, server: await startWith(await cli(), ports) };
  } catch (error) {
    if (tries === 1 || !(error as Error).message.includes('one of its ports is taken')) throw error;
    return startSomewhere(cli, named, tries - 1);
  }
}

test('a server that lost a port of its own choice to another process is started again', async () => {
  const { ports, server } = await startSomewhere(async () => losing(await anyFreePort(), 2));
  expect(server.address).toBe(`127.0.0.1:${ports.grpc}`);
  expect(readFileSync(join(dir, 'starts'), 'utf8').split('start')).toHaveLength(4);
  await server.stop(500);
});

test('a server whose drawn port another process has taken meanwhile is started with others', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port: metrics } = other.address() as AddressInfo;
  try {
    const { ports, server } = await startSomewhere(async () => (await obtainCli(() => undefined)).path, { metrics });
    expect(ports.metrics).not.toBe(metrics);
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
