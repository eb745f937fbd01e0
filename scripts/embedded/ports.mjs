/** Free TCP ports on the loopback interface. */
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { StartError } from './errors.mjs';

const LAST_PORT = 65_535;
const SEARCH_WIDTH = 200;

/** Error codes of a machine without IPv6. */
const NO_SUCH_ADDRESS = new Set(['EADDRNOTAVAIL', 'EAFNOSUPPORT']);

/** The code of the error when host:port cannot be bound now, else null. */
function bindError(host, port) {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', ({ code }) => resolve(code));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(null)));
  });
}

/**
 * True when a service on 127.0.0.1:port would be what `localhost:port` leads to: browsers try ::1 first, and another program may listen
 * there alone.
 * @param {number} port
 * @returns {Promise<boolean>}
 */
export async function isFree(port) {
  if ((await bindError('127.0.0.1', port)) !== null) return false;
  const other = await bindError('::1', port);
  return other === null || NO_SUCH_ADDRESS.has(other);
}

/**
 * Below the ports that systems give to outgoing connections (from 32,768 on Linux, 49,152 elsewhere): a server that takes seconds to start,
 * or is started again later, would find one of those taken.
 */
const UNNAMED = { from: 20_000, to: 32_000 };
const ATTEMPTS = 100;

/**
 * A free port that nobody has named, drawn at random so that processes which look at the same time find different ones.
 * @returns {Promise<number>}
 * @throws {StartError} when a hundred draws were all taken
 */
export async function anyFreePort() {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const port = randomInt(UNNAMED.from, UNNAMED.to);
    if ((await bindError('127.0.0.1', port)) === null) return port;
  }
  throw new StartError(
    `No free port found between ${UNNAMED.from} and ${UNNAMED.to}.`,
    'End the programs that hold them: ss -ltnp lists them.',
  );
}

/**
 * The first free port from `from` on that is not in `taken`.
 * @param {number} from
 * @param {Set<number>} [taken] ports already given away in this start
 */
async function nextFree(from, taken = new Set()) {
  for (let port = from; port <= Math.min(from + SEARCH_WIDTH, LAST_PORT); port += 1) {
    if (!taken.has(port) && (await isFree(port))) return port;
  }
  throw new StartError(
    `No free port between ${from} and ${from + SEARCH_WIDTH}.`,
    'Free some ports, or choose one in the environment.',
  );
}

/**
 * Chooses a port by the rule of the README, "Ports and servers": a setting is a promise (taken: an error with a cure), a default moves
 * to the next free one.
 * @param {{name: string, fallback: number, env: Record<string, string | undefined>, taken: Set<number>}} wanted
 * @returns {Promise<{port: number, movedFrom: number | null}>}
 */
export async function choosePort({ name, fallback, env, taken }) {
  const text = env[name];
  if (text === undefined || text === '') {
    const port = await nextFree(fallback, taken);
    taken.add(port);
    return { port, movedFrom: port === fallback ? null : fallback };
  }
  const port = Number(text);
  if (!/^\d+$/.test(text) || port < 1 || port > LAST_PORT) {
    throw new StartError(`${name}=${text} is not a port.`, `Set ${name} to a number from 1 to ${LAST_PORT}, or leave it unset.`);
  }
  if (taken.has(port) || !(await isFree(port))) {
    throw new StartError(`${name}=${port} is taken by another process.`, [
      `See what holds it: lsof -i :${port}   (or: ss -ltnp | grep ${port})`,
      `Choose another ${name}, or leave it unset: the next free port from ${fallback} is used then.`,
    ]);
  }
  taken.add(port);
  return { port, movedFrom: null };
}
