/** Ends what global-setup.mjs started. */
import { stopServers } from './global-setup.mjs';

export default async function teardown() {
  await stopServers(globalThis.assentTestServers);
}
