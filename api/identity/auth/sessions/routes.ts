import { z } from 'zod';
import { type Endpoint, endpoint } from '../../../platform/endpoint/endpoint.js';
import { Succeeded } from '../schema.js';
import { listDevices, revokeDevice } from './devices.js';
import { logOut, revokeSession } from './end-session.js';
import { listSessions } from './list-sessions.js';
import { renewSession } from './renew-session.js';
import { Device, DeviceGone, DevicePath, Renewed, Session, SessionEnded, SessionPath } from './schema.js';

const tag = 'Sessions';

export const sessionRoutes: Endpoint[] = [
  endpoint({
    id: 'refreshToken',
    method: 'post',
    path: '/api/auth/refresh',
    tag,
    summary: 'Refresh the session token',
    description:
      'Accepts an expired token while its session is active: used within the last 12 hours, started within the last 30 days.',
    ability: 'account.renew',
    allowExpiredJwt: true,
    storable: false,
    response: Renewed,
    handle: ({ ctx }) => renewSession(ctx),
  }),
  endpoint({
    id: 'logOut',
    method: 'post',
    path: '/api/auth/logout',
    tag,
    summary: 'Sign out',
    ability: 'account.leave',
    storable: false,
    response: Succeeded,
    handle: ({ ctx }) => logOut(ctx),
  }),
  endpoint({
    id: 'listSessions',
    method: 'get',
    path: '/api/auth/sessions',
    tag,
    summary: 'List sessions',
    ability: 'account.session',
    response: z.array(Session),
    handle: ({ ctx }) => listSessions(ctx),
  }),
  endpoint({
    id: 'revokeSession',
    method: 'delete',
    path: '/api/auth/sessions/:session_id',
    tag,
    summary: 'Revoke a session',
    ability: 'account.session',
    params: SessionPath,
    response: SessionEnded,
    errors: [404],
    handle: ({ ctx, params }) => revokeSession(ctx, params.session_id),
  }),
  endpoint({
    id: 'listDevices',
    method: 'get',
    path: '/api/auth/devices',
    tag,
    summary: 'List trusted devices',
    ability: 'account.security',
    response: z.array(Device),
    handle: ({ ctx }) => listDevices(ctx),
  }),
  endpoint({
    id: 'revokeDevice',
    method: 'delete',
    path: '/api/auth/devices/:device_id',
    tag,
    summary: 'Revoke a trusted device',
    ability: 'account.security',
    params: DevicePath,
    response: DeviceGone,
    errors: [404],
    handle: ({ ctx, params }) => revokeDevice(ctx, params.device_id),
  }),
];
