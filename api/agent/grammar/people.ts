import { readDate } from '../../platform/written-days.js';
import { foldName } from './fold.js';
import type { Assignee } from './terms.js';
import { findPriority, findState, VERBS } from './words.js';

/** A member of a team, with the names that a message may call them by: the username first. */
export interface Member {
  user_id: string;
  team_id: string;
  names: readonly string[];
}

const MAX_NAME_WORDS = 6;

const RESERVED = new Set(
  (
    'it its this that them these those they their his her hers him he she both all every each everything anything whatever any task tasks the a an ' +
    'anyone anybody someone everyone we us you ' +
    'is are was were be to of no not into as by until till for with at from on in and or off out up over has have had do does did priority due'
  ).split(' '),
);
const ANY_DAY = '2000-01-01';
/** Words that a sentence needs for something else: who is called so is named by `@` and a username. */
const isWordOfGrammar = (words: readonly string[]): boolean =>
  findState(words) !== undefined ||
  findPriority(words) !== undefined ||
  RESERVED.has(words[0] ?? '') ||
  RESERVED.has(words.at(-1) ?? '') ||
  readDate(words, ANY_DAY) !== undefined;

/** Members by username, whole name, and first or last name. */
export class PeopleIndex {
  private readonly byRank: readonly ReadonlyMap<string, Member[]>[];

  constructor(private readonly members: readonly Member[]) {
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

  /**
   * The members of a folded name, in a team or in any: `@` begins a username. Without it the name may be anyone's, so that no member takes
   * the name of another by a username.
   */
  find(name: string, teamId?: string): string[] {
    const [usernames, ...others] = this.byRank;
    const ranks = name.startsWith('@') ? [usernames] : [usernames, ...others];
    const found = ranks.flatMap((rank) => rank?.get(name.replace(/^@ ?/, '')) ?? []);
    const fitting = found.filter(({ team_id }) => teamId === undefined || team_id === teamId);
    return [...new Set(fitting.map(({ user_id }) => user_id))];
  }

  /** A member as others see them, by a name that only they have; else the name. */
  shown(name: string): string {
    const [id, ...others] = this.find(name);
    const names = others.length === 0 ? this.members.find(({ user_id }) => user_id === id)?.names : undefined;
    return names?.[1] ?? names?.[0] ?? name;
  }

  /** A name as a comment mentions its member: by @ and the username, if only one has it. */
  mention(name: string): string | undefined {
    const [id, ...others] = this.find(name);
    const username = others.length === 0 ? this.members.find(({ user_id }) => user_id === id)?.names[0] : undefined;
    return username === undefined ? undefined : `@${username}`;
  }

  /** Whether a verb stands before the name of another member: `add Mia` is no name where there is a Mia. */
  private isOrder([first = '', ...rest]: readonly string[]): boolean {
    if (rest.length === 0 || !VERBS.has(first)) return false;
    const whole = this.find([first, ...rest].join(' '));
    return this.find(rest.join(' ')).some((id) => !whole.includes(id));
  }

  /** Reads words as a person; `isKnown` tells whether there is one. */
  read(words: readonly string[]): { to: Assignee; isKnown: boolean } | undefined {
    const isUsername = words[0] === '@';
    const rest = isUsername ? words.slice(1) : words;
    const said = rest.join(' ');
    const name = isUsername ? `@${said}` : said;
    if (rest.length === 0 || rest.length > MAX_NAME_WORDS || rest.includes('')) return undefined;
    if (['me', 'myself', 'i'].includes(name)) return { to: { kind: 'me' }, isKnown: true };
    if (['nobody', 'no one', 'noone', 'none'].includes(name)) return { to: { kind: 'nobody' }, isKnown: true };
    if (!isUsername && (isWordOfGrammar(rest) || this.isOrder(rest))) return undefined;
    return { to: { kind: 'name', name }, isKnown: this.find(name).length > 0 };
  }
}

/** Whether an assignee is no member. */
export const isNone = (to: Assignee | undefined): boolean => to?.kind === 'nobody';
