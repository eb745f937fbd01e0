import { z } from 'zod';

export const FollowTask = z
  .object({
    follows: z.boolean().meta({ description: '`false`: nothing of the task any more, also as its creator or assignee' }),
  })
  .meta({ id: 'FollowTask' });

export const TaskFollowers = z
  .object({
    follows: z.boolean().meta({ description: 'Whether the caller hears of the task' }),
    followers: z
      .array(z.object({ user_id: z.string(), display_name: z.string() }))
      .meta({ description: 'Members who hear of it: the creator, the assignee, and at most 100 who follow it' }),
  })
  .meta({ id: 'TaskFollowers' });
export type TaskFollowers = z.output<typeof TaskFollowers>;
