/** What a handle stands for. */
export interface Target {
  type: 'task' | 'project' | 'note' | 'file' | 'whiteboard' | 'doc' | 'user' | 'relation';
  id: string;
  /** The item is linked to the session; a project that is only the place of a linked task is not. */
  isLinked: boolean;
}

const LETTERS: Record<Target['type'], string> = {
  task: 'T',
  project: 'P',
  note: 'N',
  file: 'F',
  whiteboard: 'W',
  doc: 'D',
  user: 'U',
  relation: 'R',
};

const ITEMS = ['task', 'project', 'note', 'file', 'whiteboard', 'doc'] as const;

export type StoredHandles = Record<string, [type: Target['type'], id: string, isLinked: boolean]>;

/**
 * Handles of one turn, such as `T1`, which a model sees instead of ids. A handle resolves in this map only, so an id that a text contains
 * names nothing. The map is stored with each step, so a handle means the same thing until the turn ends.
 */
export class Handles {
  private readonly targets = new Map<string, Target>();
  private readonly named = new Map<string, string>();
  private readonly counts: Partial<Record<string, number>> = {};

  constructor(stored: StoredHandles = {}) {
    for (const [handle, [type, id, isLinked]] of Object.entries(stored)) this.add(handle, { type, id, isLinked });
  }

  private add(handle: string, target: Target): void {
    this.targets.set(handle, target);
    this.named.set(`${target.type} ${target.id}`, handle);
    const letter = handle.slice(0, 1);
    this.counts[letter] = Math.max(this.counts[letter] ?? 0, Number(handle.slice(1)));
  }

  /** Returns the handle of a target, a new one if it has none. */
  of(type: Target['type'], id: string, isLinked = true): string {
    const known = this.named.get(`${type} ${id}`);
    if (known !== undefined) {
      const target = this.targets.get(known) as Target;
      target.isLinked ||= isLinked;
      return known;
    }
    const letter = LETTERS[type];
    const handle = `${letter}${(this.counts[letter] ?? 0) + 1}`;
    this.add(handle, { type, id, isLinked });
    return handle;
  }

  /** Returns the handle of an item that has one. */
  findItem(id: string): string | undefined {
    for (const type of ITEMS) {
      const handle = this.named.get(`${type} ${id}`);
      if (handle !== undefined) return handle;
    }
    return undefined;
  }

  /** Returns what a handle stands for; undefined for anything else that a model may say. */
  resolve(handle: unknown): Target | undefined {
    return typeof handle === 'string' ? this.targets.get(handle.trim()) : undefined;
  }

  stored(): StoredHandles {
    return Object.fromEntries([...this.targets].map(([handle, { type, id, isLinked }]) => [handle, [type, id, isLinked]]));
  }
}
