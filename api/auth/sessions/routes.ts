import { z } from 'zod';
import { type Endpoint, endpoint } from '../../endpoint/endpoint.js';
import { Succeeded } from '../schema.js';
import { listDevices, revokeDevice } from './devices.js';
import { logOut, revokeSession } from './end-session.js';
import { listSessions } from './list-sessions.js';
import { renewSession } from './renew-session.js';
import { Device, DeviceGone, DevicePath, Renewed, Session, SessionEnded, SessionPath } from './schema.js';

const tag = 'Sessions';

export const sessionRoutes: Endpoint[] = [
  endpoint({
    method: 'post',
    path: '/api/auth/refresh',
    tag,
    summary: 'Get a new token for this session',
    description:
      'Takes a token whose time is over too, as long as its session lives: used within the last 12 hours, opened within the last 30 days.',
    ability: 'account.renew',
    allowExpiredJwt: true,
    storable: false,
    response: Renewed,
    handle: ({ ctx }) => renewSession(ctx),
  }),
  endpoint({
    method: 'post',
    path: '/api/auth/logout',
    tag,
    summary: 'End this session',
    ability: 'account.leave',
    storable: false,
    response: Succeeded,
    handle: ({ ctx }) => logOut(ctx),
  }),
  endpoint({
    method: 'get',
    path: '/api/auth/sessions',
    tag,
    summary: 'Where I am signed in',
    ability: 'account.session',
    response: z.array(Session),
    handle: ({ ctx }) => listSessions(ctx),
  }),
  endpoint({
    method: 'delete',
    path: '/api/auth/sessions/:session_id',
    tag,
    summary: 'End one of my sessions',
    ability: 'account.session',
    params: SessionPath,
    response: SessionEnded,
    errors: [404],
    handle: ({ ctx, params }) => revokeSession(ctx, params.session_id),
  }),
  endpoint({
    method: 'get',
    path: '/api/auth/devices',
    tag,
    summary: 'My trusted devices',
    ability: 'account.security',
    response: z.array(Device),
    handle: ({ ctx }) => listDevices(ctx),
  }),
  endpoint({
    method: 'delete',
    path: '/api/auth/devices/:device_id',
    tag,
    summary: 'Trust a device no longer',
    ability: 'account.security',
    params: DevicePath,
    response: DeviceGone,
    errors: [404],
    handle: ({ ctx, params }) => revokeDevice(ctx, params.device_id),
  }),
];
