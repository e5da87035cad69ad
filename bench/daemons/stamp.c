/* FILE -> 32 more bytes in it: the nanosecond at which this process began, and the second it was meant to. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int main(int count, char **arguments)
{
    struct timespec now;
    struct { long long begun; char due[24]; } row = {0};
    const char *due = getenv("KRON_CHOSEN_TIME");
    clock_gettime(CLOCK_REALTIME, &now);
    row.begun = now.tv_sec * 1000000000LL + now.tv_nsec;
    if (due)
        strncpy(row.due, due, sizeof row.due);
    int file = count == 2 ? open(arguments[1], O_WRONLY | O_APPEND) : -1;
    return write(file, &row, sizeof row) != sizeof row;
}
