import { conflict } from '../../../platform/errors.js';

/** What a requester, a team and an operation have had so far. */
export interface Standing {
  /** Open requests of the requester, in all teams. */
  own: number;
  of_team: number;
  /** Open ones of the requester for one of the same places: system, name and target. */
  same: number;
  /** How often people refused one of the operations to the requester within a day. */
  refused: number;
}

const MAX_OPEN_OF_REQUESTER = 100;
const MAX_OPEN_OF_TEAM = 500;
const MAX_OPEN_OF_PLACE = 10;
const MAX_REFUSALS = 3;

const tooMany = (whose: string) =>
  conflict(`${whose} open change requests`, {
    detail: 'Use, cancel or let some of them expire first.',
    extra: { reason: 'too_many_open' },
  });

/**
 * Keeps one requester from tiring the people who decide.
 * @throws RESOURCE_CONFLICT `too_many_open` | `refused_before`
 */
export function checkLimits({ own, of_team, same, refused }: Standing): void {
  if (refused >= MAX_REFUSALS)
    throw conflict(`People refused this operation ${MAX_REFUSALS} times within a day`, {
      detail: 'Talk to them before you ask again.',
      extra: { reason: 'refused_before' },
    });
  if (same >= MAX_OPEN_OF_PLACE) throw tooMany(`You have ${MAX_OPEN_OF_PLACE} for this target:`);
  if (own >= MAX_OPEN_OF_REQUESTER) throw tooMany(`You have ${MAX_OPEN_OF_REQUESTER}`);
  if (of_team >= MAX_OPEN_OF_TEAM) throw tooMany(`The team has ${MAX_OPEN_OF_TEAM}`);
}
