import { MAX_SUBTASK_DEPTH } from '../../../work/tasks/rules.js';
import { computeHash, IdIndex, NumberList } from './id-index.js';

/** No parent, in a list of hashes. */
const NONE = 0;

/** States of a row while levels are counted. */
const UNKNOWN = 0;
const ON_PATH = 1;
const KNOWN = 2;

/** A task whose parents form a cycle, or that is nested too deep. */
export const UNPLACED = -1;

/** What the order of tasks reads of each. */
interface OrderedTask {
  task_id?: string | null | undefined;
  parent_task_id?: string | null | undefined;
  status?: string | null | undefined;
  recurrence?: unknown;
  series_id?: string | null | undefined;
  occurrence_index?: number | null | undefined;
}

/** Collects the tasks of a file in its order. Says how deep each is below others of the file, so that parents can be created first. */
export class TaskOrder {
  private readonly index = new IdIndex();
  private readonly parents = new NumberList();
  private readonly repeating = new Map<number, number>();
  private readonly newest = new Map<number, { row: number; occurrence: number; isOpen: boolean }>();
  private hasParents = false;

  /** Adds the next task. */
  add(task: OrderedTask): void {
    const row = this.parents.length;
    if (task.task_id != null) this.index.add(computeHash(task.task_id), row);
    this.parents.push(task.parent_task_id == null ? NONE : computeHash(task.parent_task_id));
    if (task.parent_task_id != null) this.hasParents = true;
    if (task.recurrence != null) this.addOccurrence(row, task);
  }

  private addOccurrence(row: number, { task_id, series_id, occurrence_index, status }: OrderedTask): void {
    const series = computeHash(series_id ?? task_id ?? `row ${row}`);
    const occurrence = occurrence_index ?? 1;
    this.repeating.set(row, series);
    const known = this.newest.get(series);
    if (!known || known.occurrence < occurrence) this.newest.set(series, { row, occurrence, isOpen: status !== 'done' });
  }

  get length(): number {
    return this.parents.length;
  }

  /** Whether the tasks can be created in the order of the file, each as it is. */
  get isPlain(): boolean {
    return !this.hasParents && this.repeating.size === 0;
  }

  /** Returns whether the task continues its series: it is the newest occurrence in the file, and open. Others must not start a second series. */
  continuesSeries(row: number): boolean {
    const series = this.repeating.get(row);
    if (series === undefined) return true;
    const newest = this.newest.get(series);
    return newest?.row === row && newest.isOpen;
  }

  private findParent(row: number): number {
    const parent = this.parents.at(row);
    return parent === NONE ? -1 : this.index.getRowNumber(parent);
  }

  /** Returns the level of each task below the tasks of the file, 0 for the topmost, or UNPLACED. */
  levels(): Int8Array {
    const levels = new Int8Array(this.length);
    const states = new Uint8Array(this.length);
    for (let start = 0; start < this.length; start += 1) {
      const path: number[] = [];
      let row = start;
      for (; row >= 0 && states[row] === UNKNOWN; row = this.findParent(row)) {
        states[row] = ON_PATH;
        path.push(row);
      }
      let isUnplaced = row >= 0 && (states[row] === ON_PATH || levels[row] === UNPLACED);
      let level = row < 0 ? -1 : (levels[row] as number);
      for (const each of path.toReversed()) {
        level += 1;
        isUnplaced ||= level >= MAX_SUBTASK_DEPTH;
        levels[each] = isUnplaced ? UNPLACED : level;
        states[each] = KNOWN;
      }
    }
    return levels;
  }
}
