/** An automation to begin with: it asks before it tells the team of a finished task. */
const example = (teamId: string) => ({
  name: 'Announce finished tasks',
  team_id: teamId,
  trigger_type: 'task.completed',
  actions: [
    { type: 'require_approval', params: { message: 'Announce {{event.task.title}}?' } },
    { type: 'notify', params: { role: 'guest', message: '{{event.task.title}} is done' } },
  ],
});

/** Returns a command for a shell that creates a first automation of the team; the token comes from the environment. */
export const createByApi = (url: string, teamId: string): string =>
  `curl -X POST '${url}' \\
  -H "Authorization: Bearer $ASSENT_TOKEN" \\
  -H 'Content-Type: application/json' \\
  -d '${JSON.stringify(example(teamId), null, 2)}'`;
