import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { basename, join } from 'node:path';

/**
 * Loaded into a process by `npm run bench -- --profile DIR` (node --import): writes its CPU profile to DIR when it ends. Open
 * the file in the performance tab of a Chromium browser, or in any reader of .cpuprofile.
 */
const dir = process.env['BENCH_PROFILE'];
if (dir) {
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.start');
  process.on('exit', () =>
    session.post('Profiler.stop', (error, result) => {
      const name = `${basename(process.argv[1] ?? 'node', '.js')}-${process.pid}.cpuprofile`;
      if (!error) writeFileSync(join(dir, name), JSON.stringify(result.profile));
    }),
  );
}
