import { recapTasks } from '../../../work/projects/recap-tasks.js';
import type { Context } from '../../../platform/context.js';
import type { DateRange } from '../../../platform/written-ranges.js';
import { recentDays } from '../../grammar/asking/past-range.js';
import type { LinkedItem } from '../../grammar/tokens.js';
import { answerActivity, daysWords, momentsOf } from '../answer-activity.js';
import { describe, plural } from '../answer-words.js';
import type { ClaimedTurn } from '../claim-turn.js';
import type { Answer } from '../end-turn.js';
import { type ReadByRules, zoneOf } from '../reading/read-world.js';

/** Changes that a recap shows. */
const LATEST = 10;

/** How far a project is, and what happened in it: in the last days, if none are said. */
export async function describeProject(
  ctx: Context,
  turn: ClaimedTurn,
  read: ReadByRules,
  project: LinkedItem,
  days: DateRange = recentDays(read.world.today),
): Promise<Answer> {
  const zone = zoneOf(turn);
  const found = await recapTasks(ctx, project.id, momentsOf(days, zone), read.world.today);
  const [head = ''] = describe({ ...project, item_type: project.type }, { due: read.facts.get(project.id)?.due ?? null }).split(
    '\n',
  );
  const now = `- ${plural(found.open, 'open task', 'open tasks')}, ${found.overdue} of them overdue, ${found.in_review} in review; ${found.done} done`;
  const past = `- ${daysWords(days)}: ${found.created} created, ${found.finished} done${found.dropped > 0 ? `, ${found.dropped} canceled or closed as a duplicate` : ''}`;
  const counts = found.isCut ? [`- more than ${found.read.toLocaleString('en')} tasks, which I do not count`] : [now, past];
  const asked = { does: 'activity', asked: { days }, of: project } as const;
  const activity = await answerActivity(ctx, asked, read.world, { teamIds: null, zone, most: LATEST });
  return { content: `${[head, ...counts].join('\n')}\n\n${activity.content}`, mentions: activity.mentions };
}
