// Controls: tests with a planted fault, which they must find.

/** A control that finds nothing is repeated this many times in all. */
const controlsMax = 10

/**
 * Runs a control until its planted fault did something wrong: a kill can miss the moment in which the fault matters.
 * Gives the report of the last try, in which `wrong` counts the wrong things.
 */
export async function untilWrong<Wrong extends string, Report extends Readonly<Record<Wrong, number>>>(
  wrong: Wrong,
  control: (attempt: number) => Promise<Report>,
): Promise<Report> {
  for (let attempt = 1; ; attempt += 1) {
    const report = await control(attempt)
    if (report[wrong] > 0 || attempt === controlsMax) return report
  }
}
