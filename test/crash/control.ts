// Controls: tests with a planted fault, which they must find.

/** A control that finds nothing is repeated this many times in all. */
const controlsMax = 10

/**
 * Runs a control until its planted fault did something wrong: a kill can miss the moment in which the fault matters.
 *
 * @param control gets the number of the try, from 0, and gives its report.
 * @returns the report of the last try.
 */
export async function untilWrong<Report>(
  control: (attempt: number) => Promise<Report>,
  countWrong: (report: Report) => number,
): Promise<Report> {
  for (let attempt = 0; ; attempt += 1) {
    const report = await control(attempt)
    if (countWrong(report) > 0 || attempt + 1 === controlsMax) return report
  }
}
