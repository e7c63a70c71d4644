#include <stdio.h>
#include <retain.h>

int main(void)
{
	printf("retain %s\n", retain_version());
	return 0;
}
