import { foldName } from './fold.js';
import type { Assignee } from './terms.js';

/** A member of a team, with the names that a message may call them by: the username first. */
export interface Member {
  user_id: string;
  team_id: string;
  names: readonly string[];
}

const MAX_NAME_WORDS = 6;

/** Members by name: a username wins over a whole name, and this over a first or last name. */
export class PeopleIndex {
  private readonly byRank: readonly ReadonlyMap<string, Member[]>[];

  constructor(members: readonly Member[]) {
    const ranks = [new Map<string, Member[]>(), new Map<string, Member[]>(), new Map<string, Member[]>()];
    const add = (rank: number, name: string, member: Member): void => {
      const found = ranks[rank]?.get(name) ?? [];
      if (name !== '' && !found.includes(member)) ranks[rank]?.set(name, [...found, member]);
    };
    for (const member of members) {
      const [username = '', ...names] = member.names.map(foldName);
      add(0, username, member);
      for (const name of names) {
        add(1, name, member);
        const parts = name.split(' ');
        if (parts.length > 1) for (const part of [parts[0] as string, parts.at(-1) as string]) add(2, part, member);
      }
    }
    this.byRank = ranks;
  }

  /** The members of a folded name, in a team or in any. */
  find(name: string, teamId?: string): string[] {
    for (const rank of this.byRank) {
      const found = (rank.get(name) ?? []).filter(({ team_id }) => teamId === undefined || team_id === teamId);
      if (found.length > 0) return [...new Set(found.map(({ user_id }) => user_id))];
    }
    return [];
  }

  /** Reads words as a person; `isKnown` tells whether there is one. */
  read(words: readonly string[]): { to: Assignee; isKnown: boolean } | undefined {
    const rest = words[0] === '@' ? words.slice(1) : words;
    const name = rest.join(' ');
    if (rest.length === 0 || rest.length > MAX_NAME_WORDS || rest.includes('')) return undefined;
    if (['me', 'myself', 'i'].includes(name)) return { to: { kind: 'me' }, isKnown: true };
    if (['nobody', 'no one', 'noone', 'none', 'anybody', 'anyone'].includes(name))
      return { to: { kind: 'nobody' }, isKnown: true };
    return { to: { kind: 'name', name }, isKnown: this.find(name).length > 0 };
  }
}

/** Whether an assignee is no member. */
export const isNone = (to: Assignee | undefined): boolean => to?.kind === 'nobody';
