import type { Services } from '../../platform/context.js';
import { run } from '../../../db/statement.js';
import { mailTime } from './mail-time.js';
import { groupNotice, wordNotice } from './rules.js';
import {
  insertNoticesStatement,
  MARKS_PER_PASS,
  type NoticeFact,
  takeMarksStatement,
  takeTurnStatement,
} from './write-notices.sql.js';

interface Taken extends Record<string, unknown> {
  taken: number;
  facts: NoticeFact[];
}

/**
 * Turns the oldest marks into notices (docs/decisions/work.md#notices-of-a-person): each mark once, in one transaction. Any number of workers may call it at a time:
 * one of them writes. Returns a positive number if more may be left than one pass takes.
 */
export async function writeNotices({ db }: Pick<Services, 'db'>): Promise<number> {
  const now = new Date();
  return db.transaction(async (db) => {
    const [turn] = await run<{ is_ours: boolean }>(db, takeTurnStatement, []);
    if (turn?.is_ours !== true) return 0;
    const [pass] = await run<Taken>(db, takeMarksStatement, []);
    const { taken, facts } = pass as Taken;
    const notices = facts.map((fact) => {
      const { kind, user_id, team_id, run_id, item_id, comment_id, actor_id } = fact;
      const written = { message: wordNotice(fact), group_key: groupNotice(fact), mail_at: mailTime(fact, now) };
      return { kind, user_id, team_id, run_id, item_id, comment_id, actor_id, ...written };
    });
    if (notices.length > 0) await run(db, insertNoticesStatement, [JSON.stringify(notices)]);
    return taken === MARKS_PER_PASS ? taken : 0;
  });
}
