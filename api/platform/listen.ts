import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Config } from './config.js';

type PortSetting = 'PORT' | 'METRICS_PORT' | 'WORKER_METRICS_PORT';

/** Listens at BIND_ADDRESS and the port of a setting; returns the port. @throws Error that names the setting, if the address is taken or not ours */
export async function listen(server: Server, config: Config, setting: PortSetting): Promise<number> {
  server.listen(config[setting], config.BIND_ADDRESS);
  try {
    await once(server, 'listening');
  } catch (error) {
    throw new Error(
      `${setting} or BIND_ADDRESS is not usable: ${(error as Error).message}. Choose another one, or end what holds it`,
    );
  }
  return (server.address() as AddressInfo).port;
}
