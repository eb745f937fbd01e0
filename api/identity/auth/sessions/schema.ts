import { z } from 'zod';
import { Id, Timestamp } from '../../../platform/fields.js';
import { ClientInfo } from '../schema.js';

export const Session = ClientInfo.extend({ session_id: z.string() }).meta({ id: 'Session' });
export type Session = z.output<typeof Session>;

export const Device = ClientInfo.extend({ device_id: z.string(), expires_at: Timestamp }).meta({ id: 'TrustedDevice' });
export type Device = z.output<typeof Device>;

export const SessionPath = z.object({ session_id: Id });
export const DevicePath = z.object({ device_id: Id });

export const SessionEnded = z.object({ success: z.literal(true), session_id: z.string() }).meta({ id: 'SessionEnded' });
export const DeviceGone = z.object({ success: z.literal(true), device_id: z.string() }).meta({ id: 'DeviceGone' });
export const Renewed = z.object({ token: z.string(), expires_at: Timestamp }).meta({ id: 'Renewed' });
export type Renewed = z.output<typeof Renewed>;
