import type { Reader } from './page.js';

type Team = Reader['teams'][number];

/**
 * Returns the team that a page about one team shows: the wanted one, else the one whose page this browser showed last, else the usual one of the user,
 * else the first; undefined without teams. `among`: the teams that the page is for.
 */
export function chooseTeam(me: Reader, wanted?: string | null, among: readonly Team[] = me.teams): Team | undefined {
  const ids = [wanted, me.current_team_id, me.preferences.default_team_id];
  return ids.map((id) => among.find(({ team_id }) => team_id === id)).find((team) => team !== undefined) ?? among[0];
}
