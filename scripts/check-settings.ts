import { loadConfig } from '../api/platform/config.js';

/** Validates the settings like the service, and prints the list of problems. Connects to nothing. */
try {
  loadConfig();
  console.log('the settings are usable');
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
