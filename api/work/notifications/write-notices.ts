import type { Services } from '../../platform/context.js';
import { run } from '../../../db/statement.js';
import { mailTime } from './mail-time.js';
import { groupNotice } from './rules.js';
import { wordNotice } from './word-notice.js';
import type { NotificationKind } from './schema.js';
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

/** A notice to write; `mail_at`: when an email lists it, unless it has been read. */
interface NewNotice extends Partial<Pick<NoticeFact, 'run_id' | 'item_id' | 'comment_id'>> {
  kind: NotificationKind;
  user_id: string;
  team_id: string | null;
  actor_id: string | null;
  message: string;
  group_key: string;
  mail_at: string | null;
}

/** Writes notices, oldest first, in the open transaction. Two of them at a time must not share a group. */
export async function insertNotices(db: Services['db'], notices: readonly NewNotice[]): Promise<void> {
  if (notices.length > 0) await run(db, insertNoticesStatement, [JSON.stringify(notices)]);
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
    const notices = facts.map((fact): NewNotice => {
      const { kind, user_id, team_id, run_id, item_id, comment_id, actor_id } = fact;
      const written = { message: wordNotice(fact), group_key: groupNotice(fact), mail_at: mailTime(fact, now) };
      return { kind, user_id, team_id, run_id, item_id, comment_id, actor_id, ...written };
    });
    await insertNotices(db, notices);
    return taken === MARKS_PER_PASS ? taken : 0;
  });
}
