import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../../api/platform/config.js';
import { openDatabase } from '../../db/connection.js';
import { createCaller } from '../chaos/caller.js';
import { checkInstallation } from '../chaos/check.js';
import { startRecorder } from '../chaos/gateway/recorder.js';
import { judgeFiles } from '../chaos/gateway/secret-files.js';
import { startLoad } from '../chaos/load.js';
import { startProduct } from '../chaos/product.js';
import { awaitQuiet, judgeAnswers } from '../chaos/run.js';
import { startSubscriber } from '../chaos/subscriber.js';
import { buildWorld } from '../chaos/world.js';
import type { State } from './state.js';
import type { Target } from './target.js';

/** The users of `npm run chaos` do all kinds of work; with these pauses they leave the rate to the even load. */
const SLOWER = 10;

/**
 * Starts a copy of the product as `npm run chaos` does, on the data of earlier pieces, with its users at work.
 * @throws Error if it does not start
 */
export async function startEmbedded(
  root: string,
  state: State,
  say: (line: string) => void,
  interrupted: Promise<never>,
): Promise<Target> {
  const product = await startProduct(root, { api: 1, workers: 1 }, say, interrupted, state.dir ?? undefined);
  state.dir = product.dir;
  const config = loadConfig(product.env);
  const db = openDatabase({ url: config.DATABASE_URL, poolSize: 2, name: 'assent-soak', statementTimeout: 0 });
  const caller = createCaller(product.urls);
  const world = (state.world ??= await buildWorld(caller));
  // Another order of choices in each piece.
  const seed = state.pieces.length;
  const subscriber = await startSubscriber(caller, world, seed, state.ledger.performed);
  const recorder = await startRecorder(caller, world, seed, state.ledger.acts);
  const load = startLoad(caller, world, config.FORGE_WEBHOOK_SECRET ?? '', seed, SLOWER, state.ledger);
  load.ledger.received = subscriber.received;
  const pid = (name: string): [string, number][] => {
    const found = product.findPid(name);
    return found === undefined ? [] : [[name, found]];
  };
  return {
    parts: product.victims,
    pids: () => Promise.resolve(Object.fromEntries(product.victims.flatMap(pid))),
    query: async (text) => (await db.raw<{ rows: Record<string, unknown>[] }>(text)).rows,
    base: () => product.urls[0] as string,
    token: world.admin,
    projectId: world.quiet,
    async finish() {
      await load.stop();
      const restless = await awaitQuiet(db);
      load.surprises.push(...subscriber.surprises, ...recorder.surprises);
      const file = join(product.dir, 'ledger.json');
      writeFileSync(file, JSON.stringify(load.ledger));
      const verdicts = [...judgeAnswers(caller, load, restless), ...(await checkInstallation(product.env, file))];
      verdicts.push(await judgeFiles(product.dir));
      await subscriber.unsubscribe();
      await recorder.unregister();
      return verdicts;
    },
    async stop(keep) {
      recorder.close();
      subscriber.close();
      await db.destroy();
      await product.stop(keep);
    },
  };
}
