import { z } from 'zod';
import { createExample } from '../../../identity/example/create-example.js';
import { MOVE_NAMES, playExample } from '../../../identity/example/play-example.js';
import { removeExample } from '../../../identity/example/remove-example.js';
import { TeamParams } from '../../../identity/teams/schema.js';
import { type FormError, type Notice, page, type Page, type Redirect } from '../../page.js';

const PATH = '/app/teams/:team_id/example';

const home = (text: string, kind: Notice['kind'] = 'good'): Redirect => ({ to: '/app', notice: { kind, text } });
const onError = (_visit: unknown, { message }: FormError): Promise<Redirect> => Promise.resolve(home(message, 'bad'));

const MOVED = {
  enable: 'Automation enabled.',
  finish: 'Task finished. It starts a run, which asks for an approval.',
  reopen: 'Task reopened.',
} as const;

export const firstStepPages: Page[] = [
  page({
    method: 'post',
    path: PATH,
    access: 'automation.write',
    params: TeamParams,
    async handle({ ctx, params }) {
      const { created } = await createExample(ctx, params.team_id);
      return home(created ? 'Example project created.' : 'The team has its example already.');
    },
    onError,
  }),
  page({
    method: 'post',
    path: `${PATH}/remove`,
    access: 'automation.write',
    params: TeamParams,
    async handle({ ctx, params }) {
      await removeExample(ctx, params.team_id);
      return home('The example is in the trash.');
    },
    onError,
  }),
  page({
    method: 'post',
    path: `${PATH}/play`,
    access: 'automation.write',
    params: TeamParams,
    form: z.object({ move: z.enum(MOVE_NAMES) }),
    async handle({ ctx, params, form }) {
      await playExample(ctx, params.team_id, form.move);
      return home(MOVED[form.move]);
    },
    onError,
  }),
];
