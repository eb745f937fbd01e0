import type { Servers } from '../servers.js';
import { fillAuditLog } from './fill.js';
import { measureAuditLog } from './measure.js';

const TEAMS = 200;
/** Requests of each kind. */
const REQUESTS = 200;

/** Fills an audit log, then measures its reads in the largest team, the tenth and the hundredth. */
export async function measureAuditGrowth(servers: Servers, entries: number): Promise<void> {
  console.log(`\n${entries.toLocaleString('en')} audit entries of ${TEAMS} teams over a year`);
  await servers.start();
  const teams = await fillAuditLog(servers.db, entries, TEAMS);
  const api = await servers.startApi();
  for (const at of [0, 9, 99]) {
    const team = teams[at];
    if (team) await measureAuditLog(api.port, team, REQUESTS);
  }
}
