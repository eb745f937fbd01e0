import { loadConfig } from '../api/core/config.js';

/** Reads the settings as the service would, and ends with the list of what is not usable. Connects to nothing. */
try {
  loadConfig();
  console.log('the settings are usable');
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
