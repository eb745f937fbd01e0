import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import pg from 'pg';
import type { TestApp } from './app.js';
import { until } from './worker.js';

/** Classes of the advisory locks of tests: what a test holds, and what a statement that stands still there has. */
const GATE = 4711;
const MARK = 4712;

/** A place in a transaction: before a row is written, or within COMMIT, when the change is there and nobody has heard of it. */
export interface Place {
  table: string;
  when: `${'before' | 'deferred'} ${'insert' | 'update' | 'delete'}`;
  /** SQL over `new` and `old`: which rows. */
  condition?: string;
  /** SQL over `new` and `old`: whom the row belongs to, the team by default. */
  owner?: string;
}

/** Statements that stand still at places of a test, for as long as it likes, so that it can kill the process that sent them. */
export class StandStill {
  private readonly session: pg.Client;

  constructor(private readonly app: TestApp) {
    this.session = new pg.Client(app.services.config.DATABASE_URL);
  }

  /** Connects; `stand_still(place)` in SQL stands still where the test holds the place. It works in any transaction, and waits for no lock. */
  async open(): Promise<void> {
    await this.session.connect();
    await this.app.services.db.raw(/* sql */ `
      create function stand_still(place text) returns void language plpgsql as $$
      begin
        if not pg_try_advisory_xact_lock_shared(${GATE}, hashtext(place)) then
          perform pg_advisory_xact_lock_shared(${MARK}, hashtext(place));
          while not pg_try_advisory_xact_lock_shared(${GATE}, hashtext(place)) loop perform pg_sleep(0.01); end loop;
        end if;
      end $$`);
  }

  close(): Promise<void> {
    return this.session.end();
  }

  /** Makes a place at which statements stand still while the test holds it. */
  async at(name: string, { table, when, condition = 'true', owner = 'new.team_id' }: Place): Promise<void> {
    const [time, event] = when.split(' ') as [string, string];
    const isDeferred = time === 'deferred';
    const trigger = `stand_still_at_${name.replaceAll('-', '_')}`;
    await this.app.services.db.raw(/* sql */ `
      create function ${trigger}() returns trigger language plpgsql as $$
      begin
        if ${condition} then perform stand_still('${name}' || ${owner}); end if;
        return coalesce(new, old);
      end $$;
      create ${isDeferred ? 'constraint trigger' : 'trigger'} ${trigger} ${isDeferred ? 'after' : 'before'} ${event} on ${table}
        ${isDeferred ? 'deferrable initially deferred' : ''} for each row execute function ${trigger}()`);
  }

  /** From now on, statements stand still at this place for this owner. */
  async hold(name: string, owner: string): Promise<void> {
    await this.session.query('select pg_advisory_lock($1, hashtext($2))', [GATE, name + owner]);
  }

  /** Returns how many statements stand still. */
  async standing(): Promise<number> {
    const { rows } = await this.session.query<{ count: number }>(
      `select count(*)::int from pg_locks l join pg_stat_activity a using (pid)
       where l.locktype = 'advisory' and l.classid = $1 and a.datname = current_database() and a.state = 'active'`,
      [MARK],
    );
    return rows[0]?.count ?? 0;
  }

  /** Lets all statements go on. */
  async release(): Promise<void> {
    await this.session.query('select pg_advisory_unlock_all()');
  }

  /** Freezes processes, lets the statements that stand still go on without them, and kills them. */
  async kill(...children: ChildProcess[]): Promise<void> {
    for (const child of children) child.kill('SIGSTOP');
    await this.release();
    await until(async () => (await this.standing()) === 0);
    for (const child of children) {
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    }
  }
}
