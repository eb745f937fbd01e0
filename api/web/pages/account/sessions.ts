import { listDevices, revokeDevice } from '../../../identity/auth/sessions/devices.js';
import { revokeSession } from '../../../identity/auth/sessions/end-session.js';
import { listSessions } from '../../../identity/auth/sessions/list-sessions.js';
import { DevicePath, SessionPath } from '../../../identity/auth/sessions/schema.js';
import { type Redirect, page, type Page, type FormError } from '../../page.js';

const PATH = '/app/account/sessions';
const back = (_visit: unknown, { message }: FormError): Promise<Redirect> =>
  Promise.resolve({ to: PATH, notice: { kind: 'bad', text: message } });

export const sessionPages: Page[] = [
  page({
    method: 'get',
    path: PATH,
    access: 'account.security',
    async handle({ ctx }) {
      const [sessions, devices] = await Promise.all([listSessions(ctx), listDevices(ctx)]);
      return { view: 'account/sessions', title: 'Sessions and devices', data: { sessions, devices } };
    },
  }),
  page({
    method: 'post',
    path: `${PATH}/:session_id/end`,
    access: 'account.session',
    params: SessionPath,
    async handle({ ctx, params }) {
      await revokeSession(ctx, params.session_id);
      return { to: PATH, notice: { kind: 'good', text: 'Session ended.' } };
    },
    onError: back,
  }),
  page({
    method: 'post',
    path: '/app/account/devices/:device_id/forget',
    access: 'account.security',
    params: DevicePath,
    async handle({ ctx, params }) {
      await revokeDevice(ctx, params.device_id);
      return { to: PATH, notice: { kind: 'good', text: 'Trust revoked. Next sign-in needs an emailed code.' } };
    },
    onError: back,
  }),
];
