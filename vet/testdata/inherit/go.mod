module example.com/inherit

go 1.26
