/** The fields of a row that determine its position. */
export interface TaskNode {
  task_id: string;
  parent_task_id: string | null;
}

/** A row with its depth, in output order. */
export interface Placed<Row extends TaskNode> {
  row: Row;
  level: number;
}

/**
 * Puts every row after its parent, siblings in the given order; a row whose parent is missing is at the top level. With `flat`,
 * all rows are.
 */
export function arrange<Row extends TaskNode>(rows: Row[], flat = false): Placed<Row>[] {
  if (flat) return rows.map((row) => ({ row, level: 0 }));
  const present = new Set(rows.map((row) => row.task_id));
  const below = new Map<string | null, Row[]>();
  for (const row of rows) {
    const parent = row.parent_task_id !== null && present.has(row.parent_task_id) ? row.parent_task_id : null;
    const siblings = below.get(parent);
    if (siblings) siblings.push(row);
    else below.set(parent, [row]);
  }
  const placed: Placed<Row>[] = [];
  const place = (parent: string | null, level: number): void => {
    for (const row of below.get(parent) ?? []) {
      placed.push({ row, level });
      place(row.task_id, level + 1);
    }
  };
  place(null, 0);
  return placed;
}

/**
 * Writes records in the order of `arrange` as one JSON array, chunk by chunk. Text is spliced, never parsed: `subtasks` replaces
 * each record's closing brace.
 */
export class TreeText {
  /** Depth of the last record written. */
  private last = -1;
  /** Levels of omitted ancestors; their descendants move up. */
  private readonly gaps: number[] = [];

  constructor(private readonly flat = false) {}

  /** Returns the next record as text. If it is undefined because the task is gone, its children take its place. */
  add(json: string | undefined, level: number): string {
    while ((this.gaps.at(-1) ?? -1) >= level) this.gaps.pop();
    if (json === undefined) {
      this.gaps.push(level);
      return '';
    }
    const depth = level - this.gaps.length;
    const before = this.last === -1 ? '[' : this.separator(depth);
    this.last = depth;
    return this.flat ? before + json : `${before}${json.slice(0, -1)},"subtasks":[`;
  }

  /** Adds top-level records, one per line, of which only the last may have children. Much faster than one by one. */
  addLines(lines: string): string {
    const before = this.last === -1 ? '[' : this.separator(0);
    this.gaps.length = 0;
    this.last = 0;
    if (this.flat) return before + lines.replaceAll('\n', ',');
    return `${before}${lines.slice(0, -1).replaceAll('}\n', ',"subtasks":[]},')},"subtasks":[`;
  }

  /** Returns the end of the array. */
  end(): string {
    if (this.last === -1) return '[]';
    return this.flat ? ']' : `${']}'.repeat(this.last + 1)}]`;
  }

  private separator(depth: number): string {
    if (this.flat) return ',';
    return depth > this.last ? '' : `${']}'.repeat(this.last - depth + 1)},`;
  }
}

/** Writes all rows, each with its record as `json`, as one JSON array. */
export function writeTree(rows: (TaskNode & { json: string })[], flat = false): string {
  const text = new TreeText(flat);
  const parts = arrange(rows, flat).map(({ row, level }) => text.add(row.json, level));
  return parts.join('') + text.end();
}
