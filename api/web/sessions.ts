import { listDevices, revokeDevice } from '../auth/sessions/devices.js';
import { revokeSession } from '../auth/sessions/end-session.js';
import { listSessions } from '../auth/sessions/list-sessions.js';
import { DevicePath, SessionPath } from '../auth/sessions/schema.js';
import { type Go, page, type Page, type Problem } from './page.js';

const PATH = '/app/account/sessions';
const back = (_visit: unknown, { message }: Problem): Promise<Go> =>
  Promise.resolve({ to: PATH, notice: { kind: 'bad', text: message } });

export const sessionPages: Page[] = [
  page({
    method: 'get',
    path: PATH,
    who: 'account.security',
    async handle({ ctx }) {
      const [sessions, devices] = await Promise.all([listSessions(ctx), listDevices(ctx)]);
      return { view: 'sessions', title: 'Sign-ins and devices', data: { sessions, devices } };
    },
  }),
  page({
    method: 'post',
    path: `${PATH}/:session_id/end`,
    who: 'account.session',
    params: SessionPath,
    async handle({ ctx, params }) {
      await revokeSession(ctx, params.session_id);
      return { to: PATH, notice: { kind: 'good', text: 'Signed out there.' } };
    },
    again: back,
  }),
  page({
    method: 'post',
    path: '/app/account/devices/:device_id/forget',
    who: 'account.security',
    params: DevicePath,
    async handle({ ctx, params }) {
      await revokeDevice(ctx, params.device_id);
      return { to: PATH, notice: { kind: 'good', text: 'Forgotten. Its next sign-in takes a mailed code.' } };
    },
    again: back,
  }),
];
