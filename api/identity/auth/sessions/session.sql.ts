import { defineStatement } from '../../../../db/statement.js';

/** $1 = session id, $2 = user id, $3 = IP address, $4 = user agent, $5 = days and $6 = minutes of its life, $7 = device, $8 = impersonator, $9 = email. */
export const insertSession = defineStatement({
  name: 'insert_session',
  text: /* sql */ `
    insert into sessions
      (session_id, user_id, ip_address, user_agent, expires_at, device_id, impersonator_id, impersonation_mail_id)
    values ($1, $2, $3, $4, now() + make_interval(days => $5, mins => $6), $7, $8, $9)`,
});

/** $1 = user id, $2 = idle hours after which a session is over. Newest first. */
export const listSessionsOfUser = defineStatement({
  name: 'list_sessions',
  text: /* sql */ `
    select session_id, ip_address, user_agent, created_at, last_seen_at from sessions
    where user_id = $1 and ended_at is null and impersonator_id is null and expires_at > now()
      and last_seen_at > now() - make_interval(hours => $2)
    order by session_id desc`,
});

/** $1 = session id. No row: it has ended. */
export const renewStatement = defineStatement({
  name: 'renew_session',
  text: /* sql */ `
    update sessions set last_seen_at = now() where session_id = $1 and ended_at is null and expires_at > now() returning expires_at`,
});

/** $1 = session id, $2 = its user. No row: unknown, ended, or of another user. */
export const endSession = defineStatement({
  name: 'end_session',
  text: /* sql */ `
    update sessions set ended_at = now() where session_id = $1 and user_id = $2 and ended_at is null returning impersonation_mail_id`,
});

/** $1 = user id, $2 = session. The unexpired devices of the user, newest first; `current`: the session was opened with it. */
export const listDevicesOfUser = defineStatement({
  name: 'list_trusted_devices',
  text: /* sql */ `
    select device_id, ip_address, user_agent, created_at, last_seen_at, expires_at,
      device_id is not distinct from (select device_id from sessions where session_id = $2) as current
    from trusted_devices where user_id = $1 and expires_at > now() order by device_id desc`,
});
