import { join } from 'node:path';
import type { CheckedRecord } from '../records/check-record.js';
import type { RecordKind, RecordOf } from '../records/schemas.js';
import { RowFile } from './row-file.js';
import { TaskOrder, UNPLACED } from './task-order.js';

/** What a chunk holds. `comment_deletion` deletes comments that have replies, `cycle_state` starts or completes cycles with their tasks. */
export type ChunkKind = RecordKind | 'comment_deletion';

/** A record as the prepared object has it, one a line. */
export interface PreparedRow {
  line: number;
  /** Number of the record in its line. */
  part: number;
  /** Several lines of a foreign file name it: an existing one is taken, whatever `on_conflict` says. */
  shared?: true;
  /** Of a new task, taken beforehand: its file is written in another order than it has. */
  number?: number;
  record: Record<string, unknown>;
}

/** Order in which the kinds are written: what a record refers to comes first. Tasks are written by their level. */
const BEFORE = ['custom_field', 'project', 'cycle'] as const;
const AFTER = [
  'project_update',
  'note',
  'work_item',
  'comment',
  'reply',
  'custom_field_value',
  'relation',
  'automation',
  'comment_deletion',
  'custom_field_archive',
  'cycle_state',
] as const;
type Phase = (typeof BEFORE)[number] | 'task' | (typeof AFTER)[number];

const getKind = (phase: Phase): ChunkKind => (phase === 'reply' ? 'comment' : phase);

/** Kinds of rows that belong to another row of the file, which counts for both. */
export const isFollowUp = (kind: ChunkKind): boolean =>
  ['comment_deletion', 'custom_field_archive', 'cycle_state'].includes(kind);

/** Called with a task that cannot be placed below its parents. */
type OnUnplaced = (row: Pick<PreparedRow, 'line'>) => void;
/** Takes numbers for tasks of the file, null for those whose id the team has. */
export type TakeNumbers = (ids: (string | null)[]) => Promise<(number | null)[]>;
/** Called with a task that lost its recurrence. */
type OnSingle = (row: Pick<PreparedRow, 'line'>) => void;

/** Collects the records of an input in files, and returns them in the order in which they can be written. */
export class SortedRows {
  private readonly files = new Map<string, RowFile>();
  private readonly order = new TaskOrder();

  constructor(private readonly folder: string) {}

  private file(name: string): RowFile {
    const file = this.files.get(name) ?? new RowFile(join(this.folder, name));
    this.files.set(name, file);
    return file;
  }

  /** Adds a record; await the promise, if there is one. */
  add({ kind, record }: CheckedRecord, row: Omit<PreparedRow, 'record'>): Promise<void> | undefined {
    if (kind === 'task') this.order.add(record as RecordOf<'task'>);
    const phase = kind === 'comment' && record['parent_comment_id'] != null ? 'reply' : kind;
    const text = JSON.stringify({ ...row, record });
    const added = this.file(phase).add(text);
    const isDeleted = kind === 'comment' && record['deleted'] === true && record['comment_id'] != null;
    if (!isDeleted) return added;
    const deletion = JSON.stringify({ line: row.line, part: -1, record: { comment_id: record['comment_id'] } });
    return Promise.all([added, this.file('comment_deletion').add(deletion)]).then(() => undefined);
  }

  private async closeFiles(): Promise<void> {
    for (const file of this.files.values()) await file.close();
  }

  /** Closes what a failure has left open. */
  async release(): Promise<void> {
    for (const file of this.files.values()) await file.release();
  }

  /** Copies the tasks to one file a level, without those that cannot be placed. Returns the files in order. */
  private async taskFiles(takeNumbers: TakeNumbers, onUnplaced: OnUnplaced, onSingle: OnSingle): Promise<RowFile[]> {
    const tasks = this.files.get('task');
    if (!tasks || this.order.isPlain) return tasks ? [tasks] : [];
    const levels = this.order.levels();
    const files: RowFile[] = [];
    let row = 0;
    for await (const group of tasks.read()) {
      const tasks = group.map((bytes) => JSON.parse(bytes.toString('utf8', 0, bytes.length - 1)) as PreparedRow);
      const numbers = await takeNumbers(tasks.map(({ record }) => (record['task_id'] as string | null | undefined) ?? null));
      for (const [at, task] of tasks.entries()) {
        const level = levels[row] as number;
        const continues = this.order.continuesSeries(row);
        row += 1;
        if (level === UNPLACED) onUnplaced(task);
        else {
          files[level] ??= this.file(`task-${level}`);
          const number = numbers[at] ?? undefined;
          await files[level].add(JSON.stringify({ ...(continues ? task : this.singled(task, onSingle)), number }));
        }
      }
    }
    await this.closeFiles();
    return files;
  }

  private singled(row: PreparedRow, onSingle: OnSingle): PreparedRow {
    if (row.record['status'] !== 'done') onSingle(row);
    return { ...row, record: { ...row.record, recurrence: null } };
  }

  /** Returns the files in the order in which their rows are written, each with what it holds. */
  async sorted(
    takeNumbers: TakeNumbers,
    onUnplaced: OnUnplaced,
    onSingle: OnSingle,
  ): Promise<{ kind: ChunkKind; file: RowFile }[]> {
    await this.closeFiles();
    const tasks = (await this.taskFiles(takeNumbers, onUnplaced, onSingle)).map((file) => ({ kind: 'task' as const, file }));
    const of = (phases: readonly Phase[]) =>
      phases.flatMap((phase) => {
        const file = this.files.get(phase);
        return file ? [{ kind: getKind(phase), file }] : [];
      });
    return [...of(BEFORE), ...tasks, ...of(AFTER)];
  }
}
