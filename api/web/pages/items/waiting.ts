import { listWaitingAbout } from '../../../approvals/list-waiting-about.js';
import type { User } from '../../../identity/auth/schema.js';
import type { Context } from '../../../platform/context.js';
import { readEntries } from '../work/decision-entries.js';

/** Of what waits about a task: cards to decide here, and everything that is named; the Approvals page has the others. */
const CARDS = 3;
const MOST = 8;
/** Changes of a card; what has more is decided on a page of its own, so that the task is not buried below it. */
const LINES = 5;

/** Returns what waits for a yes and would change or concerns a task: cards for what the user may decide, lines for the rest, nearest deadline first. */
export async function loadWaiting(ctx: Context, me: User, taskId: string) {
  const rows = await listWaitingAbout(ctx, [taskId], MOST + 1);
  const { entries, ...shown } = await readEntries(ctx, me, rows.slice(0, MOST));
  const cards = entries.filter(({ isMine, lines = [] }) => isMine && lines.length <= LINES).slice(0, CARDS);
  return { ...shown, cards, lines: entries.filter((entry) => !cards.includes(entry)), more: rows.length > MOST };
}
